import { ActuatorError } from "../common/error.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import { printable } from "./printable.ts";

/** What somebody hears whose file of tokens is not there. */
export function noTokenFile(file: string): CliError {
  return new CliError(EXIT.refused, `${printable(file)} is not there: --file names another; token create makes it`);
}

/** What somebody hears whose file of tokens cannot be read or written. */
export function tokenFileFailure(file: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ActuatorError)
      throw new CliError(EXIT.refused, `${printable(file)}: ${printable(error.message)}`);
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof CliError || code === undefined) throw error;
    throw new CliError(EXIT.refused, `${printable(file)} cannot be used: ${printable(message)}`);
  };
}
