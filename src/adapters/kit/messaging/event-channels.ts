import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { EventName } from "./emitter-target.ts";

/** The system of in-process channels in keys. */
export const SYSTEM = "node";

/** How many names are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** An event of an emitter. */
export class EventChannel {
  /** As the graph shows it, without the emitter's name. */
  readonly event: string;
  /** Declared once the application listens; until then only seen. */
  node: GraphNode;
  listened = false;
  /** The links to channels of patterns, such as `order.*`, as of `revision`. */
  routes: readonly GraphLink[] = [];
  revision = 0;

  constructor(event: string, node: GraphNode) {
    this.event = event;
    this.node = node;
  }
}

/** The events of all emitters of one name. Those beyond a limit are one channel, `<name>.*`. */
export class EventChannels {
  /** Grows with every channel that is listened to. */
  revision = 0;
  readonly #host: GraphHost;
  readonly #name: string;
  readonly #max: number;
  readonly #channels = new Map<string, EventChannel>();
  readonly #remembered = new Map<unknown, EventChannel>();

  constructor(host: GraphHost, name: string, max: number) {
    this.#host = host;
    this.#name = name;
    this.#max = max;
  }

  /** The channel that is emitted to under this name. */
  emitted(event: unknown): EventChannel {
    const known = this.#remembered.get(event);
    if (known !== undefined) return known;
    const shown = this.#host.shownName(nameOf(event), `${this.#name}.`);
    let channel = this.#channels.get(shown);
    if (channel === undefined) {
      this.#dropShared();
      const others = this.#channels.size >= this.#max;
      if (others) this.#host.collapsed(`${this.#name}.${shown}`);
      channel = others ? (this.#channels.get("*") ?? this.#add("*")) : this.#add(shown);
    }
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(event, channel);
    return channel;
  }

  /** The same for a name that is listened to. */
  listened(event: EventName): EventChannel {
    const channel = this.emitted(event);
    if (channel.listened) return channel;
    channel.node = this.#host.declare(this.#declaration(channel.event));
    channel.listened = true;
    this.revision++;
    return channel;
  }

  /** The links from `channel` to the patterns that match it and are listened to. */
  routes(channel: EventChannel, delimiter: string): readonly GraphLink[] {
    if (channel.revision === this.revision) return channel.routes;
    const patterns = [...this.#channels.values()].filter(
      ({ event, listened }) =>
        listened &&
        event !== channel.event &&
        isEventPattern(event, delimiter) &&
        matchesEvent(event, channel.event, delimiter),
    );
    channel.routes = patterns
      .map(({ node }) => this.#host.way(channel.node, "route", node))
      .filter((link) => link !== undefined);
    channel.revision = this.revision;
    return channel.routes;
  }

  /** Events whose names turned out to have ids share a node now, which has a channel of its own. */
  #dropShared(): void {
    if (this.#channels.size < this.#max) return;
    for (const [event, { node, listened }] of this.#channels) {
      if (node.successor !== undefined && !listened) this.#channels.delete(event);
    }
  }

  #add(event: string): EventChannel {
    const channel = new EventChannel(event, this.#host.observe(this.#declaration(event)));
    this.#channels.set(event, channel);
    return channel;
  }

  #declaration(event: string): NodeDeclaration {
    const name = `${this.#name}.${event}`;
    const key = channelKey(SYSTEM, this.#host.app, "emitter-event", name);
    return { name, pattern: "publish_subscribe_channel", componentType: "node:emitter-event", key };
  }
}

function nameOf(event: unknown): string {
  if (typeof event === "symbol") return `Symbol(${event.description ?? ""})`;
  return String(event);
}

/** Whether a pattern matches an event: `*` stands for one part of a name, and `**` for any number of them. */
export function matchesEvent(pattern: string, event: string, delimiter: string): boolean {
  return matches(pattern.split(delimiter), event.split(delimiter));
}

/** Whether a name stands for several events. */
export function isEventPattern(name: string, delimiter: string): boolean {
  return name.split(delimiter).some((part) => part === "*" || part === "**");
}

function matches(pattern: readonly string[], event: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return event.length === 0;
  if (first === "**") return event.some((_, at) => matches(rest, event.slice(at))) || matches(rest, []);
  return event.length > 0 && (first === "*" || first === event[0]) && matches(rest, event.slice(1));
}
