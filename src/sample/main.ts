import { type SampleOptions, StartError, sampleOptions, USAGE } from "./options.ts";
import { welcome } from "./welcome.ts";

/** Runs the sample until SIGTERM or SIGINT and then lets open requests finish; a second signal ends it at once. */
async function run(options: SampleOptions): Promise<void> {
  const { startSample } = await import("./sample.ts");
  const sample = await startSample(options);
  process.stdout.write(welcome(sample));
  sample.open();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      process.once(signal, () => process.exit(1));
      await sample.close();
      process.exit(0);
    });
  }
}

try {
  const options = sampleOptions(process.argv.slice(2), process.env);
  if (options === undefined) process.stdout.write(USAGE);
  else await run(options);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
