import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { PatternType } from "../../../integration-graph/pattern.ts";

/** The system that channels and streams are of, as keys and counts name it. */
export const SYSTEM = "redis";

/** What messages go to. Channels of shards are apart from other channels of the same name. */
export type Kind = "channel" | "sharded-channel" | "pattern" | "stream";

/** So many names of each kind that only messages tell of are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** So many streams are asked for their consumer groups. */
const MAX_STREAMS = 100;

/** The names of these channels hold keys of the database, and a key may be a session's id. */
const KEYSPACE = /^(__(?:sub)?keyspace(?:item|event)?@[^:]*__:).*$/s;

const PATTERN_OF: { readonly [K in Kind]: PatternType } = {
  channel: "publish_subscribe_channel",
  "sharded-channel": "publish_subscribe_channel",
  pattern: "publish_subscribe_channel",
  stream: "pollable_channel",
};

/** The channels, patterns and streams of one Redis, as nodes of the graph. */
export class Names {
  readonly #host: GraphHost;
  readonly #broker: string;
  readonly #seen: { readonly [K in Kind]: Map<string, GraphNode> } = {
    channel: new Map(),
    "sharded-channel": new Map(),
    pattern: new Map(),
    stream: new Map(),
  };
  /** Streams that are known, as `<db>/<key>`. */
  readonly streams = new Set<string>();
  /** The declared ones, with everybody who uses them. */
  readonly #held = new Map<string, { node: GraphNode; readonly users: Set<object> }>();

  constructor(host: GraphHost, broker: string) {
    this.#host = host;
    this.#broker = broker;
  }

  /** The node of what a message goes to, or comes from. `name` is a string or bytes. */
  seen(kind: Kind, name: unknown): GraphNode {
    const asked = typeof name === "string" ? name : String(name);
    const remembered = this.#seen[kind];
    const known = remembered.get(asked);
    if (known !== undefined) return known;
    const declaration = this.declarationOf(kind, asked);
    const node = this.#held.get(declaration.key!)?.node ?? this.#host.observe(declaration);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(asked, node);
    return node;
  }

  /** `user` subscribes to it or consumes it, until it is released. */
  hold(kind: Kind, name: string, user: object): GraphNode {
    const declaration = this.declarationOf(kind, name);
    let held = this.#held.get(declaration.key!);
    if (held === undefined || !held.node.attached) {
      held = { node: this.#host.declare(declaration), users: held?.users ?? new Set() };
      this.#held.set(declaration.key!, held);
      this.#seen[kind].clear();
    }
    held.users.add(user);
    return held.node;
  }

  /** Whoever `user` was does not use it any more. It stays until it is pruned. */
  release(user: object): void {
    for (const { users } of this.#held.values()) users.delete(user);
  }

  /** Drops what nobody uses any more. Where messages were seen, it comes back with the next. */
  prune(): void {
    for (const [key, { node, users }] of this.#held) {
      if (users.size > 0) continue;
      this.#held.delete(key);
      this.#host.withdraw(node);
    }
    for (const remembered of Object.values(this.#seen)) remembered.clear();
  }

  /** A channel, pattern or stream as the graph is told of it. The name of a stream is `<db>/<key>`. */
  declarationOf(kind: Kind, name: string): NodeDeclaration {
    if (kind === "stream" && this.streams.size < MAX_STREAMS) this.streams.add(name);
    const shown = this.shown(name);
    return {
      name: kind === "stream" ? shown.slice(shown.indexOf("/") + 1) : shown,
      pattern: PATTERN_OF[kind],
      componentType: `redis:${kind}`,
      key: channelKey(SYSTEM, this.#broker, kind, shown),
    };
  }

  /** A name as the graph shows it. */
  shown(name: string): string {
    return this.#host.shownName(name.replace(KEYSPACE, "$1*"));
  }
}
