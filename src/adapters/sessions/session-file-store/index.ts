import { checkOptions } from "../../../common/options.ts";
import type { SessionRecord } from "../../../sessions/principal.ts";
import {
  CONNECT_SESSIONS_OPTIONS,
  type ConnectSessions,
  type ConnectSessionsOptions,
  connectSessions,
} from "../../kit/connect-session/connect-sessions.ts";
import type { RecordTimes } from "../../kit/connect-session/record.ts";
import { type ConnectStore, requireStore, wrongStore } from "../../kit/connect-session/store.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { readSession, readSessions, type SessionFiles, sessionIds } from "./session-file.ts";

export type { ScanBounds } from "../../kit/connect-session/scan.ts";
export type { ConnectStore } from "../../kit/connect-session/store.ts";

/** How the sessions of session-file-store are read. */
export type FileStoreSessionsOptions = ConnectSessionsOptions;

/** The sessions of a store of session-file-store. */
export type FileStoreSessions = ConnectSessions<"session-file-store">;

/**
 * Shows and ends the sessions in the files of `store`, the object of session-file-store that the application passes to
 * express-session. The files are read directly, because the store's own `get` removes what it cannot read, retries and logs
 * if there is nothing, and hides expired sessions. Encrypted files are read with the store's own secret; deriving its key
 * takes a while for each file, so that a search within the usual bounds covers few of them.
 *
 * `lastAccessedTime` is the library's `__lastAccess`. `maxInactiveInterval` is the cookie's maximum age, or the store's
 * `ttl`. An expired session is shown as such until the store reaps it. The creation time is what this process saw, as in
 * `expressSessions`: a file's birth time is that of the last save, which replaces the file.
 *
 * Every search and page reads all files within `scan`, and the result says if it is partial. Counting all sessions counts files.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is not a store of session-file-store or an option is invalid.
 * @example
 * const store = new FileStore({ path: "./sessions" });
 * createActuator({ sessions: fileStoreSessions(store) });
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }));
 */
export function fileStoreSessions(store: ConnectStore, options: FileStoreSessionsOptions = {}): FileStoreSessions {
  requireStore(store, "express-session");
  requireVersion({ subpath: "session-file-store", library: "session-file-store", versions: "1.5 to 1.x" });
  checkOptions("fileStoreSessions", options, CONNECT_SESSIONS_OPTIONS);
  const { timeoutMs = 5_000 } = options;
  const files = filesOf(store);
  const reading = {
    times: fileTimes(files),
    find: (id: string) => readSession(files, id),
    entries: async () => readSessions(files, timeoutMs),
    count: async () => (await sessionIds(files)).length,
  };
  return connectSessions("session-file-store", store, reading, options);
}

function filesOf(store: ConnectStore): SessionFiles {
  const files = (store as { options?: Partial<SessionFiles> }).options;
  if (typeof files?.path === "string" && files.filePattern instanceof RegExp && typeof files.decoder === "function") {
    return files as SessionFiles;
  }
  throw wrongStore("the store that session-file-store made; other stores have adapters of their own");
}

function fileTimes({ ttl }: SessionFiles): RecordTimes {
  function lastAccessedTime(record: SessionRecord): number | undefined {
    const time = record.__lastAccess;
    return typeof time === "number" && Number.isFinite(time) ? time : undefined;
  }
  // As in the library, a maximum age of 0 counts as none.
  function maxAge(record: SessionRecord): number {
    const age = (record.cookie as { originalMaxAge?: unknown } | null | undefined)?.originalMaxAge;
    return typeof age === "number" && age !== 0 ? age : ttl * 1000;
  }
  return {
    lastAccessedTime,
    maxAge,
    expired: (record) => !maxAge(record) || (lastAccessedTime(record) ?? Number.NaN) + maxAge(record) < Date.now(),
    hidden: ["cookie", "__lastAccess"],
  };
}
