import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { type Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";

/** The system of channels and streams in keys and counts. */
export const SYSTEM = "redis";

/** What messages go to. A channel of shards is not the channel of the same name. */
export type Kind = "channel" | "sharded-channel" | "pattern" | "stream";

export type Named = Destination<Kind>;

/** How many channels are shown to lead to one pattern. */
const MAX_WAYS = 200;

/** How many streams are asked for their consumer groups. */
const MAX_STREAMS = 100;

/** The names of these channels contain keys of the database, and a key may be a session's id. */
const KEYSPACE = /^(__(?:sub)?keyspace(?:item|event)?@[^:]*__:).*$/s;

/** The channels, patterns and streams of one Redis, as nodes of the graph. The name of a stream is `<db>/<key>`. */
export class Names extends DestinationRegistry<Kind> {
  /** The streams that the application uses. */
  readonly streams = new Set<string>();

  constructor(host: GraphHost, broker: string) {
    super(host, {
      kinds: ["channel", "sharded-channel", "pattern", "stream"],
      trimmed: (name) => name.replace(KEYSPACE, "$1*"),
      maxRoutes: MAX_WAYS,
      declaration: (kind, name) => ({
        name: kind === "stream" ? name.slice(name.indexOf("/") + 1) : name,
        pattern: kind === "stream" ? "pollable_channel" : "publish_subscribe_channel",
        componentType: `redis:${kind}`,
        key: channelKey(SYSTEM, broker, kind, name),
      }),
    });
  }

  override hold(kind: Kind, name: string, user: unknown): Named {
    if (kind === "stream") this.#remember(name);
    return super.hold(kind, name, user);
  }

  override sentTo(kind: Kind, name: unknown): GraphNode {
    if (kind === "stream") this.#remember(name as string);
    return super.sentTo(kind, name);
  }

  /** The declaration of a name that Redis reports. */
  declarationOf(kind: Kind, name: string): NodeDeclaration {
    return this.declaration(kind, this.shown(name));
  }

  #remember(stream: string): void {
    if (this.streams.size < MAX_STREAMS) this.streams.add(stream);
  }
}
