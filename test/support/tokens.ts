import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PermissionPattern } from "../../src/access/permission.ts";
import { createToken } from "../../src/access/token.ts";

/** What a token of a test may do. */
export interface TokenGrant {
  readonly permissions: readonly PermissionPattern[];
  readonly loggers?: readonly string[];
}

/** A file of tokens that is there until the test ends, and the tokens by their names. */
export interface TokenFixture<Name extends string> {
  readonly file: string;
  readonly tokens: Readonly<Record<Name, string>>;
}

/** Writes a file of tokens for these. */
export function tokensFor<Name extends string>(grants: Readonly<Record<Name, TokenGrant>>): TokenFixture<Name> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "tokens.json");
  const made = Object.entries<TokenGrant>(grants).map(([name, grant]) => ({ name, grant, ...createToken() }));
  const entries = made.map(({ name, grant, id, hash }) => ({ name, id, hash, ...grant }));
  writeFileSync(file, JSON.stringify({ version: 1, tokens: entries }), { mode: 0o600 });
  const tokens = Object.fromEntries(made.map(({ name, token }) => [name, token]));
  return { file, tokens: tokens as Record<Name, string> };
}
