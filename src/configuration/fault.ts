import { ActuatorError } from "../common/error.ts";

/** One thing that is wrong with a configuration. */
export interface Fault {
  /** Where it stands: `actuator.json:3:5`, or the name of a variable of the environment. */
  readonly at: string;
  /** What is wrong, in words without secrets. */
  readonly message: string;
  /** The setting that it is about, such as `limits.maxConnections`; empty: all that a source says. */
  readonly setting?: string | undefined;
}

/** A configuration that cannot be used, with everything that is wrong with it, one line each. */
export class ConfigurationError extends ActuatorError {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const lines = faults.map(({ at, message }) => `${at}: ${message}`);
    super("INVALID_ARGUMENT", "INVALID_CONFIGURATION", lines.join("\n"), { field: faults[0]?.at ?? "" });
    this.faults = faults;
  }
}

/** What is wrong with one setting; whoever reads it knows where it stands. */
export class SettingFault extends Error {
  override readonly name = "SettingFault";
  /** The setting that was probably meant, where it is another. */
  readonly meant: string | undefined;

  constructor(message: string, meant?: string) {
    super(message);
    this.meant = meant;
  }
}

/** The fault that a {@link SettingFault} is at its place; any other error is not the writer's and goes on. */
export function settingFault(error: unknown, at: string, setting: string | undefined): Fault {
  if (!(error instanceof SettingFault)) throw error;
  return { at, message: error.message, setting: error.meant ?? setting };
}
