import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ActuatorError } from "../common/error.ts";
import type { Caller } from "./caller.ts";
import { DecodedFile } from "./decoded-file.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { refusal } from "./refusal.ts";
import { hashToken, sameHash, tokenId } from "./token.ts";
import { decodeTokens, MAX_TOKEN_FILE_BYTES, type TokenEntry } from "./token-file.ts";

/** Stands in for the hash of a token that is not there, so that looking for it takes the same steps. */
const NO_HASH = `sha256:${"0".repeat(64)}`;

interface KnownToken {
  readonly hash: string;
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Its whole entry as text, to know an entry again that stayed as it was. */
  readonly entry: string;
}

interface KnownTokens {
  /** By the digits that find them. */
  readonly byId: ReadonlyMap<string, KnownToken>;
  /** Until when those are let in who are in the file: milliseconds since the epoch. */
  readonly expiry: ReadonlyMap<Caller, number>;
}

/** The tokens of a file, as the file is now; where it cannot be read, as it was before. */
export class Tokens {
  readonly #file: DecodedFile<KnownTokens>;

  /**
   * Reads the file.
   *
   * @throws ActuatorError INVALID_ARGUMENT where it cannot be read or has a fault
   */
  constructor(path: string, onError: (error: unknown) => void) {
    const file = resolve(path);
    let hint = "`connect-actuator token create` makes such a file.";
    this.#file = new DecodedFile<KnownTokens>(file, {
      maxBytes: MAX_TOKEN_FILE_BYTES,
      decode(bytes, before) {
        const tokens = knownTokens(decodeTokens(bytes), before);
        warnOfWriters(file, onError);
        return tokens;
      },
      unusable: (_, cause) => unusable(file, cause, hint),
      onError,
    });
    hint = "The tokens of before still count.";
  }

  /**
   * Who has this token.
   *
   * @throws ActuatorError UNAUTHENTICATED for one that is not in the file, or no longer
   */
  find(token: string): Caller {
    const known = this.#file.value.byId.get(tokenId(token) ?? "");
    const same = sameHash(hashToken(token), known?.hash ?? NO_HASH);
    if (known === undefined || !same) throw refusal("This token is not known here.");
    if (known.expires <= Date.now()) throw refusal("This token has expired.", "CREDENTIALS_EXPIRED");
    return known.caller;
  }

  /** Whether somebody who was found is still let in, with the same rights. */
  holds(caller: Caller): boolean {
    return (this.#file.value.expiry.get(caller) ?? 0) > Date.now();
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

/** A token that stands there as it did has the same caller: whoever it let in stays. */
function knownToken(token: TokenEntry, before: KnownToken | undefined): KnownToken {
  const { name, hash, loggers, expires } = token;
  const entry = JSON.stringify(token);
  if (before?.entry === entry) return before;
  const caller: Caller = { name, authentication: "token", permissions: permissionsFrom(token.permissions), loggers };
  return { hash, caller, entry, expires: expires === undefined ? Infinity : Date.parse(expires) };
}

/** That others read hashes of random secrets does no harm. Whoever writes there makes themselves at home. */
function warnOfWriters(path: string, onError: (error: unknown) => void): void {
  if (process.platform === "win32") return;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o022) === 0) return;
  const shown = (mode & 0o777).toString(8);
  onError(new Error(`${basename(path)} may be written by others (mode ${shown}): whoever does gets in`));
}

function unusable(path: string, cause: unknown, hint: string): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const message = `access.tokens: ${path} cannot be used (${cause instanceof ActuatorError ? why : (code ?? why)}). ${hint}`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TOKEN_FILE", message, { field: "access.tokens" }, { cause });
}
