import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../../../common/error.ts";
import type { Exchanged, FleetDocument, FleetEngine, Report, SeenReport } from "../../../fleet/engine.ts";
import { documentIn, idOf, keyOf, storedText } from "./entry.ts";
import type { Link, LinkUse } from "./link.ts";

const STATE = "state";
/** Begins the keys that are no report: that of a report has no `==`. */
const NO_REPORT = "==";
const CLOCK_FOR_MS = 60_000;
const MAX_RETRY_MS = 2_000;
const LEAVE_WITHIN_MS = 500;
/** For the headers of a message. */
const HEADER_BYTES = 512;

/** Codes of JetStream: another writer was faster. */
const CONFLICTS = new Set<unknown>([10071, 10164]);
const STREAM_NOT_FOUND = 10059;

/**
 * One fleet in NATS JetStream. The document is the key `state` of the bucket `ca_<fleet>`, with its version in the first line; the
 * reports are in the bucket `ca_<fleet>_instances`, in memory, for a minute. Hints are messages with the subject `ca.<fleet>.hint`. In
 * these names, `_` of the fleet's name is `__`, and `.` is `_d`.
 *
 * A connection is never repaired: whatever fails, another one is made, after a pause that grows to 2 seconds.
 */
export class NatsEngine implements FleetEngine {
  readonly kind = "nats";
  readonly #dial: (use: LinkUse) => Promise<Link>;
  readonly #bucket: string;
  readonly #subject: string;
  readonly #clockKey = `${NO_REPORT}${randomUUID()}`;
  #listener: (hint?: string) => void = () => {};
  #connection = new AbortController();
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #fault = new Error("it is not connected yet");
  /** The server's clock is this much ahead of `performance.now()`. */
  #offset = 0;
  #measured = -Infinity;
  #closed = false;

  constructor(fleet: string, dial: (use: LinkUse) => Promise<Link>) {
    const name = fleet.replaceAll("_", "__").replaceAll(".", "_d");
    this.#bucket = `ca_${name}`;
    this.#subject = `ca.${name}.hint`;
    this.#dial = dial;
    this.#connect();
  }

  exchange(version: string, report?: Report): Promise<Exchanged> {
    return this.#asked(async (link) => {
      const key = report === undefined ? this.#clockKey : keyOf(report.id);
      const text = sized(report?.text ?? "", link, "report of this instance");
      const sent = performance.now();
      const written = link.reports.put(key, text).then(() => (sent + performance.now()) / 2);
      const [middle, entry] = await Promise.all([written, link.state.get(STATE)]);
      // Without a report the caller is about to write, and needs the clock as it is now.
      if (report === undefined || middle - this.#measured > CLOCK_FOR_MS) {
        const own = await link.reports.get(key);
        if (own === null) throw new Error("NATS has lost a report that it had just accepted.");
        this.#offset = own.created.getTime() - middle;
        this.#measured = middle;
      }
      const document = documentIn(entry);
      const now = Math.round(middle + this.#offset);
      return { now, document: document.version === version ? undefined : document };
    });
  }

  store(next: FleetDocument, version: string, hint: string): Promise<boolean> {
    return this.#asked(async (link) => {
      const value = sized(storedText(next), link, "document of the fleet");
      const entry = await link.state.get(STATE);
      // Revisions begin again in a bucket that was lost and made anew, so that they alone say nothing.
      if (documentIn(entry).version !== version) return false;
      try {
        await link.state.put(STATE, value, { previousSeq: entry?.revision ?? 0 });
      } catch (error) {
        if (CONFLICTS.has(codeOf(error))) return false;
        throw error;
      }
      // The document is stored, whatever becomes of the hint.
      if (link === this.#link) link.publish(Buffer.byteLength(hint) > link.maxPayload ? "" : hint);
      return true;
    });
  }

  instances(): Promise<readonly SeenReport[]> {
    return this.#asked(async (link) => {
      const entries = await link.reportsWhose((key) => !key.startsWith(NO_REPORT));
      return entries.map((entry) => ({ id: idOf(entry.key), text: entry.string(), seen: entry.created.getTime() }));
    });
  }

  onHint(listener: (hint?: string) => void): void {
    this.#listener = listener;
  }

  async reset(): Promise<void> {
    this.#connect();
  }

  async close(id?: string): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (id !== undefined && this.#link !== undefined) {
      // This timer keeps the process alive, unlike the socket: the application may have more to do after it has ended the fleet.
      const timer = new AbortController();
      const late = delay(LEAVE_WITHIN_MS, undefined, { signal: timer.signal });
      await Promise.race([this.#link.reports.delete(keyOf(id)), late]).catch(() => {});
      timer.abort();
    }
    this.#drop();
  }

  async #asked<T>(call: (link: Link) => Promise<T>): Promise<T> {
    const link = this.#link;
    if (this.#closed) throw new Error("The fleet was closed.");
    if (link === undefined) throw new Error(`NATS is not ready: ${this.#fault.message}`, { cause: this.#fault });
    try {
      const answer = await call(link);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (link === this.#link && !isRefusal(error)) this.#retry(error as Error);
      throw error;
    }
  }

  #connect(): void {
    if (this.#closed) return;
    this.#drop();
    const { signal } = this.#connection;
    const onLost = (error: Error) => {
      if (!signal.aborted) this.#retry(error);
    };
    const onHint = (hint?: string) => {
      if (!signal.aborted && !this.#closed) this.#listener(hint);
    };
    const ready = (link: Link) => {
      if (signal.aborted || this.#closed) return;
      this.#link = link;
      onHint();
    };
    this.#dial({ bucket: this.#bucket, subject: this.#subject, onHint, onLost, signal }).then(ready, onLost);
  }

  #retry(fault: Error): void {
    this.#drop();
    this.#fault = fault;
    if (this.#closed) return;
    // Spread: a server that is back would meet all instances at once.
    const pause = Math.min(100 * 2 ** this.#failures++, MAX_RETRY_MS) + Math.random() * 200;
    this.#timer = setTimeout(() => this.#connect(), pause).unref();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#link = undefined;
    this.#measured = -Infinity;
    this.#connection.abort();
    this.#connection = new AbortController();
  }
}

/** The client refuses it, too, in words that do not say what is too large. */
function sized(value: string, { maxPayload }: Link, what: string): string {
  const bytes = Buffer.byteLength(value) + HEADER_BYTES;
  if (bytes <= maxPayload) return value;
  const message = `The ${what} needs a message of ${bytes} bytes. The NATS server accepts ${maxPayload}; increase its max_payload.`;
  throw new ActuatorError("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE", message);
}

/** Whether the server, or this engine, has answered: the connection works. */
function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof ActuatorError || (typeof code === "number" && code > 10_000 && code !== STREAM_NOT_FOUND);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
