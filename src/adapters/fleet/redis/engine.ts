import {
  type Exchanged,
  type FleetDocument,
  type FleetEngine,
  FleetRefusal,
  type Report,
  type SeenReport,
} from "../../../fleet/engine.ts";
import { keepAsking, ReplacedConnection } from "../../kit/fleet/connection.ts";
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
  if tonumber(string.match(all[i + 1], '^%d+') or '0') < oldest then redis.call('HDEL', KEYS[1], all[i])
  else kept[#kept + 1] = all[i] kept[#kept + 1] = all[i + 1] end
end
return ARGV[2] == 'list' and kept or {}`;

const KEEP_MS = 60_000;
/** About an hour of beats. */
const BEATS_BETWEEN_PRUNING = 720;
/** For a new connection to be ready. */
const OPEN_WITHIN_MS = 4000;

/** An error reply of the server: its first word is in capital letters. Other errors are those of the connection. */
const REPLY = /^[A-Z]{2,} /;
/** Replies of a server that another one may have replaced. A client would stay connected to it. */
const WRONG_SERVER = /\b(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN)\b/;
/** Replies to the first write of a script. Those to a later one leave what was written before. */
const REFUSAL = /\b(READONLY|OOM|MISCONF|NOREPLICAS)\b/;

/**
 * One fleet in Redis or Valkey. The document is the hash `{ca:<fleet>}:state`, whose name is also the channel of the hints; the
 * reports are in the hash `{ca:<fleet>}:instances`.
 */
export class RedisEngine implements FleetEngine {
  readonly kind = "redis";
  readonly #state: string;
  readonly #instances: string;
  readonly #connection: ReplacedConnection<Link>;
  #beats = 0;

  constructor(fleet: string, dial: Dial) {
    this.#state = `{ca:${fleet}}:state`;
    this.#instances = `{ca:${fleet}}:instances`;
    this.#connection = new ReplacedConnection({
      unready: "There is no connection to Redis",
      openWithinMs: OPEN_WITHIN_MS,
      isRefusal: (error) => !isBroken(error),
      make: async (use) => {
        const link = await dial({ ...use, channel: this.#state });
        keepAsking(() => link.ping(), use);
        return link;
      },
    });
    this.#connection.connect();
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
    this.#connection.onHint(listener);
  }

  async reset(): Promise<void> {
    this.#connection.connect();
  }

  close(id?: string): Promise<void> {
    return this.#connection.close(id === undefined ? undefined : ({ send }) => send(["HDEL", this.#instances, id]));
  }

  #eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const command = ["EVAL", script, `${keys.length}`, ...keys, ...args];
    return this.#connection
      .ask(({ send }) => send(command), isBroken)
      .catch((error: Error) => {
        throw REFUSAL.test(error.message) ? new FleetRefusal(error.message, { cause: error }) : error;
      });
  }
}

/** Whether the connection, or the server behind it, is to be replaced. */
function isBroken({ message }: Error): boolean {
  return !REPLY.test(message) || WRONG_SERVER.test(message);
}

function seenReport(id: string, value: string): SeenReport {
  const end = value.indexOf(" ");
  return { id, text: value.slice(end + 1), seen: Number(value.slice(0, end)) };
}
