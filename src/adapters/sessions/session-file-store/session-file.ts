import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SessionRecord } from "../../../sessions/principal.ts";
import { parseRecord, type SessionEntry } from "../../kit/connect-session/record.ts";
import { awaitStore } from "../../kit/connect-session/store.ts";

/** The `options` of a store of session-file-store that describe its files. */
export interface SessionFiles {
  readonly path: string;
  readonly fileExtension: string;
  readonly filePattern: RegExp;
  readonly encoding: BufferEncoding;
  readonly decoder: (text: string) => unknown;
  /** Seconds of inactivity after which a session expires whose cookie has no maximum age. */
  readonly ttl: number;
  readonly secret?: unknown;
  readonly encryptEncoding?: string | null | undefined;
  readonly kruptein?: Decryption | undefined;
}

interface Decryption {
  get(secret: unknown, data: string | Buffer, callback: (error: unknown, text: string) => void): void;
}

const BATCH = 32;
const ATTEMPTS = 3;
const PASSING = new Set(["EAGAIN", "EBUSY", "EMFILE", "ENFILE", "EPERM"]);
const NO_SESSION = new Set(["EISDIR", "ENAMETOOLONG", "ENOENT", "ENOTDIR"]);

/** Reads the session's file; undefined if there is none or it cannot be decoded. */
export async function readSession(files: SessionFiles, id: string): Promise<SessionRecord | undefined> {
  const name = id + files.fileExtension;
  // The library joins the id to the folder's path, wherever that leads.
  if (id === "" || basename(name) !== name || /[/\\\0]/.test(name)) return undefined;
  const data = await readPatiently(join(files.path, name), files);
  return data === undefined ? undefined : decoded(files, data);
}

/** Yields the sessions of all files, in no order, reading them as they are needed. */
export async function* readSessions(files: SessionFiles, timeoutMs: number): AsyncGenerator<SessionEntry> {
  const ids = await awaitStore(timeoutMs, () => sessionIds(files));
  for (let first = 0; first < ids.length; first += BATCH) {
    const batch = ids.slice(first, first + BATCH);
    const read = batch.map((id) => readPatiently(join(files.path, id + files.fileExtension), files));
    const contents = await awaitStore(timeoutMs, () => Promise.all(read));
    for (const [index, data] of contents.entries()) {
      const record = data === undefined ? undefined : decoded(files, data);
      if (record !== undefined) yield [batch[index]!, record];
    }
  }
}

/** Returns the ids of all sessions that have a file. */
export async function sessionIds({ path, fileExtension, filePattern }: SessionFiles): Promise<string[]> {
  const names = (await readdir(path)).filter((name) => filePattern.test(name));
  return names.map((name) => name.slice(0, name.length - fileExtension.length)).filter((id) => id !== "");
}

async function readPatiently(path: string, files: SessionFiles): Promise<string | Buffer | undefined> {
  const encoding = encrypted(files) && !files.encryptEncoding ? null : files.encoding;
  for (let attempt = 1; ; attempt++) {
    try {
      return await readFile(path, encoding);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (NO_SESSION.has(code)) return undefined;
      if (attempt === ATTEMPTS || !PASSING.has(code)) throw error;
      await setTimeout(20);
    }
  }
}

/** Decodes as the library's own `get` does, except that `get` removes a file that it cannot decode. */
function decoded(files: SessionFiles, data: string | Buffer): SessionRecord | undefined {
  try {
    const text = encrypted(files) ? (files.decoder(decrypted(files, data)) as string) : (data as string);
    return parseRecord(files.decoder(text));
  } catch {
    return undefined;
  }
}

function decrypted({ kruptein, secret }: SessionFiles, data: string | Buffer): string {
  let text = "";
  kruptein?.get(secret, data, (error, plain) => {
    if (error) throw error;
    text = plain;
  });
  return text;
}

function encrypted({ secret }: SessionFiles): boolean {
  return secret !== undefined && secret !== null;
}
