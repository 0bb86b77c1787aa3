import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";
import { type Class, isObject } from "./container.ts";
import type { Site } from "./site.ts";

/** The kinds of messages of @nestjs/cqrs. */
export type MessageKind = "command" | "query" | "event";

/** The commands, queries and events of @nestjs/cqrs, by their classes. */
export class CqrsChannels {
  /** The event that is being published, as long as `publish` runs: what sagas make of it at once, they make of this. */
  publishing: GraphNode | undefined;
  readonly #site: Site;
  readonly #nodes = new Map<unknown, GraphNode>();

  constructor(site: Site) {
    this.#site = site;
  }

  declared(kind: MessageKind, type: Class): GraphNode {
    const node = this.#site.host.declare(this.#declaration(kind, type));
    this.#nodes.set(type, node);
    return node;
  }

  /** The channel of a message that is sent. Where nobody handles it, it is only seen. */
  of(kind: MessageKind, message: unknown): GraphNode | undefined {
    const type = isObject(message) ? Object.getPrototypeOf(message)?.constructor : undefined;
    if (typeof type !== "function") return undefined;
    let node = this.#nodes.get(type);
    if (node === undefined) {
      node = this.#site.host.observe(this.#declaration(kind, type));
      this.#nodes.set(type, node);
    }
    return node;
  }

  #declaration(kind: MessageKind, { name }: Class): NodeDeclaration {
    return {
      name,
      pattern: kind === "event" ? "publish_subscribe_channel" : "message_channel",
      componentType: `nest:${kind}`,
      key: channelKey(SYSTEM, this.#site.host.app, `cqrs-${kind}`, name),
    };
  }
}
