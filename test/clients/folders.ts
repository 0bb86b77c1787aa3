import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken } from "../../src/access/token.ts";

/** A folder that goes at the end of its block. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
}

export async function scratchFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "connect-actuator-clients-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What each token may do, by the name of who has it. */
const GRANTS = { reader: ["info:read", "loggers:read"], operator: ["*"] };

/** A file of tokens, and the tokens. */
export async function tokenFolder(): Promise<Folder & { file: string; tokens: Record<keyof typeof GRANTS, string> }> {
  const folder = await scratchFolder();
  const file = join(folder.path, "tokens.json");
  const made = Object.entries(GRANTS).map(([name, permissions]) => ({ name, permissions, ...createToken() }));
  await writeFile(file, JSON.stringify({ version: 1, tokens: made.map(({ token: _, ...kept }) => kept) }), {
    mode: 0o600,
  });
  const tokens = Object.fromEntries(made.map(({ name, token }) => [name, token])) as Record<
    keyof typeof GRANTS,
    string
  >;
  return { ...folder, file, tokens };
}
