import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Group, Groups } from "./groups.ts";
import { type Kind, type Names, SYSTEM } from "./names.ts";

/** Called once when a command ended, with the reply as Redis gave it. */
export type Ended = (failed: boolean, reply: unknown) => void;

/** Begins a command with these arguments, without its name. Undefined if nothing of it is shown. */
type Begin = (args: readonly unknown[], db: number) => Ended | undefined;

/** The commands that send and receive messages, on one Redis. */
export class Commands {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #groups: Groups;
  readonly #table = new Map<string, Begin>();

  constructor(host: GraphHost, names: Names, groups: Groups) {
    this.#host = host;
    this.#names = names;
    this.#groups = groups;
    const table: { readonly [name: string]: Begin } = {
      publish: ([channel]) => this.#sending("channel", channel),
      spublish: ([channel]) => this.#sending("sharded-channel", channel),
      xadd: ([key], db) => this.#sending("stream", `${db}/${key}`),
      xread: (args, db) => this.#reading(args, db),
      xreadgroup: (args, db) => this.#reading(args, db, args[1]),
      xack: (args, db) => this.#acknowledging(args, db),
      xgroup: (args, db) => this.#grouping(args, db),
    };
    // Both libraries write a name in one case throughout, and most commands are other ones.
    for (const [name, begin] of Object.entries(table)) {
      this.#table.set(name, begin);
      this.#table.set(name.toUpperCase(), begin);
    }
  }

  /** A command is sent. Returns the function to call when it ended, if that is shown. */
  begin(name: string, args: () => readonly unknown[], db: number): Ended | undefined {
    const begin = this.#table.get(name);
    return begin !== undefined && this.#host.counts(SYSTEM) ? begin(args(), db) : undefined;
  }

  #sending(kind: Kind, name: unknown): Ended {
    const start = performance.now();
    const node = this.#names.sentTo(kind, name);
    // Redis answers in another context.
    const from = this.#host.currentSender;
    return (failed) => this.#host.sent(node, { start, end: performance.now(), failed }, from);
  }

  #reading(args: readonly unknown[], db: number, group?: unknown): Ended | undefined {
    const words = args.map((arg) => (typeof arg === "string" ? arg.toUpperCase() : ""));
    const at = words.indexOf("STREAMS");
    if (at < 0) return undefined;
    const named = args.slice(at + 1);
    const keys = named.slice(0, named.length / 2).map(String);
    const from = new Map(keys.map((key, index) => [key, String(named[keys.length + index])]));
    const noAck = words.indexOf("NOACK");
    // A group is in the graph as soon as the application reads for it, even if nothing comes.
    const groups = new Map<string, Group | undefined>();
    if (group !== undefined) for (const key of keys) groups.set(key, this.#groups.of(`${db}/${key}`, group));
    return (failed, reply) => {
      if (failed) return;
      for (const [key, ids] of entriesOf(reply)) {
        if (ids.length === 0) continue;
        const end = performance.now();
        const isNew = group === undefined || from.get(key) === ">";
        const stream = this.#names.sentTo("stream", `${db}/${key}`);
        if (isNew) this.#host.received(stream, { start: end, end, count: ids.length });
        const known = groups.get(key);
        if (known !== undefined) this.#groups.delivered(known, ids, noAck >= 0 && noAck < at);
      }
    };
  }

  #acknowledging([key, name, ...ids]: readonly unknown[], db: number): Ended | undefined {
    const asked = performance.now();
    const group = this.#groups.of(`${db}/${key}`, name);
    if (group === undefined) return undefined;
    return (_failed, reply) => {
      const count = Number(reply);
      if (count > 0) this.#groups.acknowledged(group, ids.map(String), count, asked);
    };
  }

  #grouping([action, key, name]: readonly unknown[], db: number): Ended | undefined {
    const act = String(action).toUpperCase();
    if (act !== "CREATE" && act !== "DESTROY") return undefined;
    return (failed) => {
      if (failed) return;
      if (act === "CREATE") this.#groups.of(`${db}/${key}`, name);
      else this.#groups.remove(`${db}/${key}`, name);
    };
  }
}

/**
 * The ids of the entries that XREAD and XREADGROUP returned, by stream: pairs of RESP 2, or a map of RESP 3, which some clients return as
 * a flat list. A name or an id may be bytes.
 */
function* entriesOf(reply: unknown): Generator<readonly [stream: string, ids: readonly string[]]> {
  for (const [stream, entries] of streamsOf(reply)) {
    if (!Array.isArray(entries)) continue;
    yield [String(stream), entries.filter(Array.isArray).map(([id]) => String(id))];
  }
}

function streamsOf(reply: unknown): Iterable<readonly [stream: unknown, entries: unknown]> {
  if (typeof reply !== "object" || reply === null) return [];
  if (reply instanceof Map) return reply;
  if (!Array.isArray(reply)) return Object.entries(reply);
  if (Array.isArray(reply[0])) return reply.filter((pair) => Array.isArray(pair) && pair.length === 2) as never;
  return reply.flatMap((stream, index) => (index % 2 === 0 ? [[stream, reply[index + 1]] as const] : []));
}
