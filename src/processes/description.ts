import type { Place } from "./socket-name.ts";

/**
 * What the socket of a process answers before HTTP: a client sends one line, `connect-actuator describe`, and receives one line of JSON.
 * It is answered without loading what HTTP needs. A connection that begins otherwise speaks HTTP.
 */
export const LINE_PREFIX = "connect-actuator ";

/** The longest line that either side sends, in bytes. */
export const MAX_LINE_BYTES = 64 * 1024;

/** The lines that a client may send, each ended by `\n`. */
export const LINES = {
  /** Answered by a {@link ProcessDescription}. */
  describe: `${LINE_PREFIX}describe`,
  /** Takes everything out of the process again, and gives loggers their own levels back. Answered by a {@link DetachAnswer}. */
  detachRestoring: `${LINE_PREFIX}detach restore`,
  /** The same, but levels stay as the operator set them. */
  detachKeeping: `${LINE_PREFIX}detach keep`,
  /** Asks how long a search of the heap would stop the process. Answered by a {@link HeapAnswer}. */
  heap: `${LINE_PREFIX}heap`,
  /** Searches the heap for objects of libraries, which stops the process meanwhile. Answered by a {@link HeapSearchAnswer}. */
  searchHeap: `${LINE_PREFIX}heap search`,
} as const;

/** How an actuator came into its process. */
export type Origin = "preloaded" | "attached" | "created by the application";

/** What a process says of itself and of its actuator. */
export interface ProcessDescription extends Place {
  /** The application: the `name` of its package.json, or of its options. */
  readonly name: string;
  readonly version?: string | undefined;
  /** When the process was started, in milliseconds since the epoch. */
  readonly startTime: number;
  readonly origin: Origin;
  /** The path of the script that the process runs. */
  readonly script?: string | undefined;
  /** What is managed, by domain: the names of libraries, such as `{ loggers: ["pino"], sessions: ["connect-redis"] }`. */
  readonly shows: Readonly<Record<"loggers" | "sessions" | "integrationGraph", readonly string[]>>;
  /** Where the actuator listens besides this socket, such as `http://127.0.0.1:9001`. */
  readonly addresses: readonly string[];
  /** The cluster worker's number; undefined in other processes. */
  readonly clusterWorker?: number | undefined;
  /** What an operator should know, such as that the application is a bundle. */
  readonly notices: readonly string[];
}

/** The answer to a line that detaches: what is wrong, or undefined if it is done next; then the socket is removed. */
export interface DetachAnswer {
  readonly error?: string | undefined;
}

/** How long a search of the heap would stop a process. */
export interface HeapAnswer {
  readonly expectedPauseMs?: number | undefined;
  readonly error?: string | undefined;
}

/** What a search of the heap has found. */
export interface HeapSearchAnswer {
  /** How long it stopped the process. */
  readonly pauseMs?: number | undefined;
  /** How many objects of each library it has found, such as `{ pino: 12 }`. */
  readonly found?: Readonly<Record<string, number>> | undefined;
  readonly error?: string | undefined;
}
