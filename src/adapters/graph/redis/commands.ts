import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import { entriesOf } from "./entries.ts";
import type { Group, Groups } from "./groups.ts";
import { type Kind, type Names, SYSTEM } from "./names.ts";

/** Told how a command ended, once. `reply` is as Redis gave it. */
export type Ended = (failed: boolean, reply: unknown) => void;

/** What a command with these arguments, without its name, begins. Undefined where nothing of it is shown. */
type Begin = (args: readonly unknown[], db: number) => Ended | undefined;

/** The commands that messages go by, on one Redis. */
export class Commands {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #groups: Groups;
  readonly #table = new Map<string, Begin>();
  #producer: GraphNode | undefined;

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
    // Both libraries write a name in one case throughout, and most commands are none of these.
    for (const [name, begin] of Object.entries(table)) {
      this.#table.set(name, begin);
      this.#table.set(name.toUpperCase(), begin);
    }
  }

  /** A command is sent. Returns what has to hear how it ended, where that is shown. */
  begin(name: string, args: () => readonly unknown[], db: number): Ended | undefined {
    const begin = this.#table.get(name);
    return begin !== undefined && this.#host.counts(SYSTEM) ? begin(args(), db) : undefined;
  }

  #sending(kind: Kind, name: unknown): Ended {
    const start = performance.now();
    const node = this.#names.seen(kind, name);
    // Redis answers in another context.
    const from = this.#host.current ?? this.#anybody();
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
    // A group is in the graph as soon as somebody reads for it, also where nothing comes.
    const groups = new Map<string, Group | undefined>();
    if (group !== undefined) for (const key of keys) groups.set(key, this.#groups.of(`${db}/${key}`, group));
    return (failed, reply) => {
      if (failed) return;
      for (const [key, ids] of entriesOf(reply)) {
        if (ids.length === 0) continue;
        const end = performance.now();
        const isNew = group === undefined || from.get(key) === ">";
        const stream = this.#names.seen("stream", `${db}/${key}`);
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

  /** Whoever sends outside of any handler, as the host names it. */
  #anybody(): GraphNode {
    if (this.#producer?.attached) return this.#producer;
    const name = `${this.#host.app}.producer`;
    const key = endpointKey(this.#host.app, "inbound_gateway", name);
    this.#producer = this.#host.declare({ name, pattern: "inbound_gateway", key });
    return this.#producer;
  }
}
