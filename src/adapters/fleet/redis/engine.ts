import { setTimeout as delay } from "node:timers/promises";
import type { Exchanged, FleetDocument, FleetEngine, Report, SeenReport } from "../../../fleet/engine.ts";
import type { Dial, Link } from "./link.ts";

/** KEYS: document, reports. ARGV: the caller's version, id and text of a report or two empty strings. */
const EXCHANGE = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], ARGV[2], now .. ' ' .. ARGV[3]) end
local v = redis.call('HGET', KEYS[1], 'v') or ''
if v == ARGV[1] then return {now} end
return {now, v, redis.call('HGET', KEYS[1], 'd') or ''}`;

/** KEYS: document. ARGV: its version, the next version and text, a hint. A client may repeat it: then it was stored already. */
const STORE = `local v = redis.call('HGET', KEYS[1], 'v') or ''
if v ~= ARGV[1] then return v == ARGV[2] and 1 or 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'd', ARGV[3])
redis.call('PUBLISH', KEYS[1], ARGV[4])
return 1`;

/** KEYS: reports. ARGV: milliseconds to keep them, "list" for an answer. Removes older ones, which killed instances left behind. */
const REPORTS = `local t = redis.call('TIME')
local oldest = t[1] * 1000 + math.floor(t[2] / 1000) - ARGV[1]
local all, kept = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  if tonumber(string.match(all[i + 1], '^%d+')) < oldest then redis.call('HDEL', KEYS[1], all[i])
  else kept[#kept + 1] = all[i] kept[#kept + 1] = all[i + 1] end
end
return ARGV[2] == 'list' and kept or {}`;

const KEEP_MS = 60_000;
/** About an hour of beats. */
const BEATS_BETWEEN_PRUNING = 720;
const PING_EVERY_MS = 4000;
/** For a new connection to be ready, and for the answer to a ping. */
const DEADLINE_MS = 4000;
const LEAVE_WITHIN_MS = 500;
const MAX_RETRY_MS = 2000;

/** An error reply of the server: its first word is in capital letters. Other errors are those of the connection. */
const REPLY = /^[A-Z]{2,} /;
/** Replies of a server that another one may have replaced. A client would stay connected to it. */
const WRONG_SERVER = /\b(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN)\b/;

/**
 * One fleet in Redis or Valkey. The document is the hash `{ca:<fleet>}:state`, whose name is also the channel of the hints; the
 * reports are in the hash `{ca:<fleet>}:instances`.
 *
 * A connection is never repaired: whatever fails, another one is made, after a pause that grows to 2 seconds.
 */
export class RedisEngine implements FleetEngine {
  readonly kind = "redis";
  readonly #dial: Dial;
  readonly #state: string;
  readonly #instances: string;
  #listener: (hint?: string) => void = () => {};
  #connection = new AbortController();
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #beats = 0;
  #fault: Error | undefined;
  #closed = false;

  constructor(fleet: string, dial: Dial) {
    this.#state = `{ca:${fleet}}:state`;
    this.#instances = `{ca:${fleet}}:instances`;
    this.#dial = dial;
    this.#connect();
  }

  async exchange(version: string, report?: Report): Promise<Exchanged> {
    const reported = [report?.id ?? "", report?.text ?? ""];
    const reply = await this.#eval(EXCHANGE, [this.#state, this.#instances], [version, ...reported]);
    const [now, found, text] = reply as [number, string?, string?];
    // At the first beat, too: many processes may live shorter than the time between two prunings.
    if (report !== undefined && this.#beats++ % BEATS_BETWEEN_PRUNING === 0) {
      this.#eval(REPORTS, [this.#instances], [`${KEEP_MS}`, ""]).catch(() => {});
    }
    return { now: Number(now), document: found === undefined ? undefined : { version: found, text: text ?? "" } };
  }

  async store(next: FleetDocument, version: string, hint: string): Promise<boolean> {
    return Number(await this.#eval(STORE, [this.#state], [version, next.version, next.text, hint])) === 1;
  }

  async instances(): Promise<readonly SeenReport[]> {
    const flat = (await this.#eval(REPORTS, [this.#instances], [`${KEEP_MS}`, "list"])) as string[];
    return flat.flatMap((value, at) => (at % 2 === 1 ? [seenReport(flat[at - 1]!, value)] : []));
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
      const removed = this.#link.send(["HDEL", this.#instances, id]);
      await Promise.race([removed, late]).catch(() => {});
      timer.abort();
    }
    this.#drop();
  }

  #eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#send(["EVAL", script, `${keys.length}`, ...keys, ...args]);
  }

  async #send(args: readonly string[]): Promise<unknown> {
    const link = this.#link;
    if (this.#closed) throw new Error("The fleet was closed.");
    if (link === undefined) throw new Error(offline(this.#fault), { cause: this.#fault });
    try {
      const reply = await link.send(args);
      this.#failures = 0;
      return reply;
    } catch (error) {
      const { message } = error as Error;
      if (link === this.#link && (!REPLY.test(message) || WRONG_SERVER.test(message))) this.#retry(error as Error);
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
      ping(link);
      onHint();
    };
    const ping = (link: Link) => {
      if (signal.aborted) return;
      this.#timer = setTimeout(() => inTime(link.ping()).then(() => ping(link), onLost), PING_EVERY_MS).unref();
    };
    inTime(this.#dial({ channel: this.#state, onHint, onLost, signal })).then(ready, onLost);
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
    this.#connection.abort();
    this.#connection = new AbortController();
  }
}

function seenReport(id: string, value: string): SeenReport {
  const end = value.indexOf(" ");
  return { id, text: value.slice(end + 1), seen: Number(value.slice(0, end)) };
}

/** Rejects if the call is not answered in time. */
async function inTime<T>(call: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("The server does not answer.")), DEADLINE_MS).unref();
  return await Promise.race([call, promise]).finally(() => clearTimeout(timer));
}

/** Node.js leaves the message empty if a host has several addresses and none answers. */
function offline(fault: (Error & { readonly code?: string }) | undefined): string {
  return `There is no connection to Redis${fault === undefined ? " yet" : `: ${fault.message || fault.code}`}`;
}
