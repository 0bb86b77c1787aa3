import { once } from "node:events";
import { ActuatorError } from "../common/error.ts";
import { CliError } from "./cli-error.ts";
import { type ConfigFileOptions, configFileOf } from "./config-file.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { Interruption } from "./interruption.ts";
import { note, print } from "./output.ts";
import { printable } from "./printable.ts";

/** For stores and instances that do not let go, after the answers under way have had their time. */
const LAST_GRACE_MS = 5_000;

/**
 * `serve`: an actuator without an application, until a signal comes.
 *
 * @throws CliError where it cannot be started.
 */
export async function serve(options: ConfigFileOptions): Promise<ExitCode> {
  const file = configFileOf(options);
  const interruption = new Interruption();
  try {
    const standalone = await started(file);
    print(printable(`connect-actuator serves ${standalone.serves.join(", ")} on ${standalone.address.url}`));
    for (const trouble of standalone.troubles) note(printable(`connect-actuator: ${trouble}`));
    if (!interruption.signal.aborted) await once(interruption.signal, "abort");
    note("connect-actuator: ends; a second signal ends it at once");
    setTimeout(() => process.exit(EXIT.refused), standalone.drainMs + LAST_GRACE_MS).unref();
    await standalone.close();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    throw new CliError(EXIT.refused, `cannot start: ${printable(error.message).replaceAll("\\u000a", "\n  ")}`);
  } finally {
    interruption.close();
  }
}

async function started(file: string | undefined) {
  const { standaloneConfiguration } = await import("../configuration/index.ts");
  const { startStandalone } = await import("../serve/index.ts");
  return startStandalone(standaloneConfiguration({ file }));
}
