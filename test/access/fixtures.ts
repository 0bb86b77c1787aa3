import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Access } from "../../src/access/access.ts";
import type { AuthRequest } from "../../src/access/auth-request.ts";
import type { Caller } from "../../src/access/caller.ts";
import type { AccessOptions } from "../../src/access/options.ts";
import type { Permission } from "../../src/access/permission.ts";
import { createToken } from "../../src/access/token.ts";
import { encodeTokens, type TokenEntry } from "../../src/access/token-file.ts";
import { ActuatorError } from "../../src/common/error.ts";

/** A folder for one test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-access-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new token and how a file has it. */
export function tokenOf(name: string, entry: Partial<TokenEntry> = {}): { token: string; entry: TokenEntry } {
  const { token, id, hash } = createToken();
  return { token, entry: { name, id, hash, permissions: ["*"], ...entry } };
}

/** Puts a file in the place of another, as whoever writes carefully does. */
export function put(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** A file of tokens. */
export function tokenFile(...entries: readonly TokenEntry[]): string {
  const path = join(scratch(), "tokens.json");
  put(path, encodeTokens(entries));
  return path;
}

/** A request that shows this. */
export function authRequest(
  shown: Partial<AuthRequest> & { headers?: Readonly<Record<string, string>> } = {},
): AuthRequest {
  const { headers = {}, ...rest } = shown;
  return {
    address: "192.0.2.1",
    authorization: undefined,
    certificate: undefined,
    header: (name) => headers[name],
    ...rest,
  };
}

/** A request with a token in Bearer. */
export function bearer(token: string, address = "192.0.2.1"): AuthRequest {
  return authRequest({ authorization: `Bearer ${token}`, address });
}

/** A request with Basic. */
export function basic(user: string, password: string): AuthRequest {
  return authRequest({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` });
}

/** Access control that is closed when the test ends, with the errors it reported. */
export function accessWith(options: AccessOptions): { access: Access; errors: string[] } {
  const errors: string[] = [];
  const access = new Access(options, (error, context) =>
    errors.push(`${context}: ${(error as Error | undefined)?.message}`),
  );
  onTestFinished(() => access.close());
  return { access, errors };
}

/** Asks who it is, and lets them do this: at once where nobody has to be waited for. */
export function admit(access: Access, request: AuthRequest, permission: Permission): Caller | Promise<Caller> {
  const caller = access.authenticate(request);
  return caller instanceof Promise
    ? caller.then((known) => access.authorize(known, permission))
    : access.authorize(caller, permission);
}

/** What came of a request: the caller, or the error in two words. */
export async function outcome(
  access: Access,
  request: AuthRequest,
  permission: Permission = "info:read",
): Promise<Caller | string> {
  try {
    return await admit(access, request, permission);
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    return `${error.code} ${error.reason}`;
  }
}

/** The name of who was let in, or the error. */
export async function nameOf(access: Access, request: AuthRequest, permission?: Permission): Promise<string> {
  const result = await outcome(access, request, permission);
  return typeof result === "string" ? result : result.name;
}

/** The error that something ends in. */
export function errorOf(action: () => unknown): ActuatorError {
  try {
    action();
  } catch (error) {
    if (error instanceof ActuatorError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
