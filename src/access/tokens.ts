import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ActuatorError } from "../error.ts";
import { readBounded, readBoundedSync } from "../files/bounded-file.ts";
import { FollowedFiles } from "../files/followed-files.ts";
import type { Caller } from "./caller.ts";
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

/** The tokens of a file, as the file is now; where it cannot be read, as it was before. */
export class Tokens {
  readonly #path: string;
  readonly #file: FollowedFiles<Buffer>;
  /** By the digits that find them. */
  #tokens: ReadonlyMap<string, KnownToken> = new Map();
  /** Until when those are let in who are in the file: milliseconds since the epoch. */
  #expiry: ReadonlyMap<Caller, number> = new Map();

  /**
   * Reads the file.
   *
   * @throws ActuatorError INVALID_ARGUMENT where it cannot be read or has a fault
   */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = resolve(path);
    try {
      const content = readBoundedSync(this.#path, MAX_TOKEN_FILE_BYTES);
      this.#take(content, onError);
      this.#file = new FollowedFiles([this.#path], {
        content,
        read: () => readBounded(this.#path, MAX_TOKEN_FILE_BYTES),
        onChange: (content) => this.#take(content, onError),
        onError: (error) => onError(unusable(this.#path, error, "The tokens of before still count.")),
      });
    } catch (error) {
      throw unusable(this.#path, error, "`connect-actuator token create` makes such a file.");
    }
  }

  /**
   * Who has this token.
   *
   * @throws ActuatorError UNAUTHENTICATED for one that is not in the file, or no longer
   */
  find(token: string): Caller {
    const known = this.#tokens.get(tokenId(token) ?? "");
    const same = sameHash(hashToken(token), known?.hash ?? NO_HASH);
    if (known === undefined || !same) throw refusal("This token is not known here.");
    if (known.expires <= Date.now()) throw refusal("This token has expired.", "CREDENTIALS_EXPIRED");
    return known.caller;
  }

  /** Whether somebody who was found is still let in, with the same rights. */
  holds(caller: Caller): boolean {
    return (this.#expiry.get(caller) ?? 0) > Date.now();
  }

  close(): void {
    this.#file.close();
  }

  #take(content: Uint8Array, onError: (error: unknown) => void): void {
    this.#tokens = knownTokens(decodeTokens(content), this.#tokens);
    this.#expiry = new Map([...this.#tokens.values()].map(({ caller, expires }) => [caller, expires]));
    this.#warnOfWriters(onError);
  }

  /** That others read hashes of random secrets does no harm. Whoever writes there makes themselves at home. */
  #warnOfWriters(onError: (error: unknown) => void): void {
    if (process.platform === "win32") return;
    const mode = statSync(this.#path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o022) === 0) return;
    const shown = (mode & 0o777).toString(8);
    onError(new Error(`${basename(this.#path)} may be written by others (mode ${shown}): whoever does gets in`));
  }
}

function knownTokens(
  entries: readonly TokenEntry[],
  before: ReadonlyMap<string, KnownToken>,
): ReadonlyMap<string, KnownToken> {
  return new Map(
    entries.map((token) => {
      const { id, name, hash, loggers, expires } = token;
      const entry = JSON.stringify(token);
      const same = before.get(id);
      if (same?.entry === entry) return [id, same];
      const caller: Caller = {
        name,
        authentication: "token",
        permissions: permissionsFrom(token.permissions),
        loggers,
      };
      return [id, { hash, caller, entry, expires: expires === undefined ? Infinity : Date.parse(expires) }];
    }),
  );
}

function unusable(path: string, cause: unknown, hint: string): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const message = `access.tokens: ${path} cannot be used (${cause instanceof ActuatorError ? why : (code ?? why)}). ${hint}`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TOKEN_FILE", message, { field: "access.tokens" }, { cause });
}
