import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ActuatorError } from "../common/error.ts";
import type { Caller } from "./caller.ts";
import { unauthenticated } from "./credentials.ts";
import { DecodedFile } from "./decoded-file.ts";
import { permissionsFrom } from "./permission.ts";
import { hashToken, sameHash, tokenId } from "./token.ts";
import { decodeTokens, MAX_TOKEN_FILE_BYTES, type TokenEntry } from "./token-file.ts";

/** Compared with unknown tokens, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = `sha256:${"0".repeat(64)}`;

interface KnownToken {
  readonly hash: string;
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** The whole entry as JSON, to recognize one that did not change. */
  readonly entry: string;
}

interface KnownTokens {
  readonly byId: ReadonlyMap<string, KnownToken>;
  /** When the token of each caller expires: milliseconds since the epoch. */
  readonly expiry: ReadonlyMap<Caller, number>;
}

/** Authenticates callers by the tokens of a file, which is followed; while it cannot be read, its last tokens stay in force. */
export class Tokens {
  readonly #file: DecodedFile<KnownTokens>;

  /** @throws ActuatorError INVALID_ARGUMENT if the file cannot be read or is not valid */
  constructor(path: string, onError: (error: unknown) => void) {
    const file = resolve(path);
    let hint = "Create it with `connect-actuator token create`.";
    let fault: string | undefined;
    this.#file = new DecodedFile<KnownTokens>(file, {
      maxBytes: MAX_TOKEN_FILE_BYTES,
      decode: (bytes, before) => knownTokens(decodeTokens(bytes), before),
      // The mode can change without the content.
      onRead() {
        const before = fault;
        fault = modeFault(file);
        if (fault !== undefined && fault !== before) onError(new Error(fault));
      },
      toError: (_, cause) => unusableFile(file, cause, hint),
      onError,
    });
    hint = "The previous tokens stay valid.";
  }

  /**
   * Returns the caller of a token.
   *
   * @throws ActuatorError UNAUTHENTICATED if the file does not have the token, or it has expired
   */
  find(token: string): Caller {
    const known = this.#file.value.byId.get(tokenId(token) ?? "");
    const same = sameHash(hashToken(token), known?.hash ?? NO_HASH);
    if (known === undefined || !same) throw unauthenticated("The token is unknown.");
    if (known.expires <= Date.now()) throw unauthenticated("The token has expired.", "CREDENTIALS_EXPIRED");
    return known.caller;
  }

  /** Whether the token of a caller is still in the file, unchanged and not expired. */
  isStillValid(caller: Caller): boolean {
    return (this.#file.value.expiry.get(caller) ?? 0) > Date.now();
  }

  /** Whether the token of a caller is in the file and has expired. */
  isExpired(caller: Caller): boolean {
    return (this.#file.value.expiry.get(caller) ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  close(): void {
    this.#file.close();
  }
}

function knownTokens(entries: readonly TokenEntry[], before: KnownTokens | undefined): KnownTokens {
  const tokens = entries.map((entry) => knownToken(entry, before?.byId.get(entry.id)));
  return {
    byId: new Map(entries.map(({ id }, at) => [id, tokens[at]!])),
    expiry: new Map(tokens.map(({ caller, expires }) => [caller, expires])),
  };
}

/** An unchanged entry keeps its caller object, so that open streams of the caller go on. */
function knownToken(token: TokenEntry, before: KnownToken | undefined): KnownToken {
  const { name, hash, loggers, expires } = token;
  const entry = JSON.stringify(token);
  if (before?.entry === entry) return before;
  const caller: Caller = { name, authentication: "token", permissions: permissionsFrom(token.permissions), loggers };
  return { hash, caller, entry, expires: expires === undefined ? Infinity : Date.parse(expires) };
}

/** Reading the hashes of random secrets does no harm, but anyone who can write the file can grant access. */
function modeFault(path: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o022) === 0) return undefined;
  const shown = (mode & 0o777).toString(8);
  return `${basename(path)} is writable by other users (mode ${shown}), who can grant access; use mode 600`;
}

function unusableFile(path: string, cause: unknown, hint: string): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const message = `access.tokens: ${path} cannot be used (${cause instanceof ActuatorError ? why : (code ?? why)}). ${hint}`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TOKEN_FILE", message, { field: "access.tokens" }, { cause });
}
