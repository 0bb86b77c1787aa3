import { ActuatorError, type Fault } from "../common/error.ts";

/** The error of a configuration that cannot be used, with everything that is wrong with it, one line each. */
export function configurationError(faults: readonly Fault[]): ActuatorError {
  const lines = faults.map(({ at, message }) => `${at}: ${message}`);
  const metadata = { field: faults[0]?.at ?? "" };
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_CONFIGURATION", lines.join("\n"), metadata, { faults });
}

/** What is wrong with one setting; the reader of its source adds where it is. */
export class SettingFault extends Error {
  override readonly name = "SettingFault";
  /** The setting that was probably meant, if it is another one. */
  readonly meant: string | undefined;

  constructor(message: string, meant?: string) {
    super(message);
    this.meant = meant;
  }
}

/** Turns a {@link SettingFault} into the fault at its place; rethrows any other error. */
export function settingFault(error: unknown, at: string, setting: string | undefined): Fault {
  if (!(error instanceof SettingFault)) throw error;
  return { at, message: error.message, setting: error.meant ?? setting };
}
