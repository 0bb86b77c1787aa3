import { editTokens, readTokens } from "../access/token-file.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import { note, print } from "./output.ts";
import { printable, printableJson } from "./printable.ts";
import { similar } from "./similar.ts";
import { noTokenFile, tokenFileFailure } from "./token-failure.ts";
import type { TokenOptions } from "./token-options.ts";

/** Takes a token out of the file. */
export async function revokeToken(name: string, { file, json }: TokenOptions): Promise<void> {
  const failure = tokenFileFailure(file);
  if ((await readTokens(file).catch(failure)) === undefined) throw noTokenFile(file);
  await editTokens(file, (tokens) => {
    const kept = tokens.filter((token) => token.name !== name);
    if (kept.length < tokens.length) return kept;
    const [near] = similar(
      name,
      tokens.map((token) => token.name),
    );
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    throw new CliError(EXIT.refused, `${printable(file)} has no token of the name ${printable(name)}${hint}`);
  }).catch(failure);
  if (json) print(printableJson({ revoked: name, file }, 2));
  else note(`revoked ${printable(name)}`);
}
