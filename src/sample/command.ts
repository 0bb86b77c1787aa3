import { sampleOptions, USAGE } from "./options.ts";
import type { Sample } from "./sample.ts";
import { StartError } from "./start-error.ts";
import { welcome } from "./welcome.ts";

/** Runs the sample until SIGTERM or SIGINT, then lets it finish; a second signal ends it at once. */
export async function command(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const sample = await started(args, env);
  if (sample === undefined) return;
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

async function started(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Sample | undefined> {
  try {
    const options = sampleOptions(args, env);
    if (options === undefined) {
      process.stdout.write(USAGE);
      return undefined;
    }
    const { startSample } = await import("./sample.ts");
    return await startSample(options);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
