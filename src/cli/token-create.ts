import type { PermissionPattern } from "../access/permission.ts";
import { createToken } from "../access/token.ts";
import type { TokenEntry } from "../access/token-file.ts";
import { editTokens } from "../access/token-file.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import { note, print } from "./output.ts";
import { printable, printableJson } from "./printable.ts";
import { tokenFileFailure } from "./token-failure.ts";
import type { TokenCreateOptions } from "./token-options.ts";

/** Adds a token to the file and prints it. The token goes to standard output alone, for a pipe to a store of secrets. */
export async function createTokenIn(options: TokenCreateOptions): Promise<void> {
  const { name, file, loggers, expires, json } = options;
  const { token, id, hash } = createToken();
  const entry: TokenEntry = {
    name,
    id,
    hash,
    permissions: [...new Set(options.permission)] as PermissionPattern[],
    ...(loggers !== undefined && { loggers }),
    created: secondsOf(new Date()),
    ...(expires !== undefined && { expires: secondsOf(expires) }),
  };
  await editTokens(file, (tokens) => {
    if (tokens.every((each) => each.name !== name)) return [...tokens, entry];
    throw new CliError(
      EXIT.refused,
      `${printable(file)} has a token of the name ${name}: revoke it, or take another name`,
    );
  }).catch(tokenFileFailure(file));
  const { hash: _, ...shown } = entry;
  print(json ? printableJson({ token, file, ...shown }, 2) : token);
  if (!json)
    note(
      `This is shown only once; ${printable(file)} has its hash. It is sent as "Authorization: Bearer …", or as a password in Basic.`,
    );
}

function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
