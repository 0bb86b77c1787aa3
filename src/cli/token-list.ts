import type { TokenEntry } from "../access/token-file.ts";
import { readTokens } from "../access/token-file.ts";
import { print } from "./output.ts";
import { printableJson } from "./printable.ts";
import { tableLines } from "./table.ts";
import { noTokenFile, tokenFileFailure } from "./token-failure.ts";
import type { TokenOptions } from "./token-options.ts";

const TITLES = ["NAME", "PERMISSIONS", "LOGGERS", "EXPIRES"];

/** Prints the tokens of the file without their hashes. */
export async function listTokens({ file, json }: TokenOptions): Promise<void> {
  const tokens = await readTokens(file).catch(tokenFileFailure(file));
  if (tokens === undefined) throw noTokenFile(file);
  const shown = tokens.map(({ hash, ...rest }) => ({ ...rest, expired: isExpired(rest) }));
  if (json) print(printableJson({ tokens: shown }, 2));
  else for (const line of tableLines(TITLES, shown.map(rowOf))) print(line);
}

function rowOf({ name, permissions, loggers, expires, expired }: Omit<TokenEntry, "hash"> & { expired: boolean }) {
  const until = expires === undefined ? "never" : expired ? `expired ${expires}` : expires;
  return [name, permissions.join(" "), loggers?.join(" ") ?? "all", until];
}

function isExpired({ expires }: Pick<TokenEntry, "expires">): boolean {
  return expires !== undefined && Date.parse(expires) <= Date.now();
}
