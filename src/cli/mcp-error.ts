import { ConnectError } from "@connectrpc/connect";
import { ActuatorError } from "../common/error.ts";
import { printable } from "../common/printable.ts";
import type { ConnectionOptions } from "./connection.ts";
import { CliError } from "./error.ts";
import { failureOf } from "./failure.ts";

/** What an agent gets to know of a call that failed. */
export function messageOf(error: unknown, called: ConnectionOptions | undefined): string {
  if (error instanceof CliError || error instanceof ActuatorError) return error.message;
  if (error instanceof ConnectError && called !== undefined) return failureOf(error, called).message;
  return printable(String(error));
}
