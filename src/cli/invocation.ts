import type { Command } from "commander";
import type { Connection } from "./connection.ts";
import type { GlobalOptions } from "./global-options.ts";

/** What a command was asked for, and what it talks over. */
export interface Invocation<Options> {
  readonly connection: Connection;
  readonly options: GlobalOptions & Options;
}

/** Reads the options of a command. RPC is loaded only here: help, completion of words and slips of the fingers need none. */
export async function invocationOf<Options = unknown>(command: Command): Promise<Invocation<Options>> {
  const options = command.optsWithGlobals<GlobalOptions & Options>();
  const { connect } = await import("./connection.ts");
  return { connection: connect(options), options };
}
