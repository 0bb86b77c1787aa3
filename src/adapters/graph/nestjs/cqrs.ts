import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { type Method, timedCall } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";
import { type Class, type Component, isObject, metadataOf, type Port, portNames } from "./container.ts";
import { observed } from "./observable.ts";
import type { Site } from "./site.ts";

/** The kinds of messages of @nestjs/cqrs. */
type MessageKind = "command" | "query" | "event";

/** The commands, queries and events of @nestjs/cqrs, by their classes. */
class CqrsChannels {
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

  /** The channel of a message that is sent. If it has no handler, it is only seen. */
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

/** The kinds of messages of @nestjs/cqrs, how their handlers are decorated, and which method handles them. */
const HANDLERS = [
  ["command", "commandHandler", "execute"],
  ["query", "queryHandler", "execute"],
  ["event", "eventsHandler", "handle"],
] as const;

/** Handlers are by the names of their classes, sagas `Class.method`. */
export function watchCqrs(site: Site, components: readonly Component[], ports: readonly Port[]): void {
  const channels = new CqrsChannels(site);
  for (const component of components) {
    for (const [kind, key, method] of HANDLERS) {
      const handled = [metadataOf(key, component.type)].flat().filter((type) => typeof type === "function") as Class[];
      if (handled.length > 0) watchHandler(site, channels, { component, kind, method, handled });
    }
    const sagas = metadataOf("sagas", component.type);
    if (Array.isArray(sagas)) for (const name of new Set(sagas)) watchSaga(site, channels, component, String(name));
  }
  for (const { kind, object } of ports) {
    if (kind === "command-bus") watchExecute(site, channels, object, "command");
    else if (kind === "query-bus") watchExecute(site, channels, object, "query");
    else if (kind === "event-bus") watchPublish(site, channels, object);
  }
}

interface HandlerDescription {
  readonly component: Component;
  readonly kind: MessageKind;
  readonly method: string;
  readonly handled: readonly Class[];
}

function watchHandler(site: Site, channels: CqrsChannels, { component, kind, method, handled }: HandlerDescription) {
  const node = site.endpoint({
    name: component.type.name,
    pattern: "service_activator",
    componentType: `nest:${kind}-handler`,
    properties: { injected: portNames(component) },
  });
  const inputs = new Map<GraphNode, GraphLink | undefined>();
  for (const type of handled) {
    const channel = channels.declared(kind, type);
    inputs.set(channel, site.host.link(channel, "input", node));
  }
  site.handle(component, method, node, [...inputs.values()], ([message]) => {
    const channel = channels.of(kind, message);
    return channel && inputs.get(channel);
  });
}

/** A command or query is sent until it is handled, as its sender waits for that. */
function watchExecute(site: Site, channels: CqrsChannels, bus: object, kind: "command" | "query"): void {
  site.replace(bus, "execute", (method) => {
    const senders = new WeakMap<GraphNode, (...args: unknown[]) => unknown>();
    return function execute(this: unknown, ...args) {
      const channel = channels.of(kind, args[0]);
      if (channel === undefined) return Reflect.apply(method, this, args);
      let send = senders.get(channel);
      if (send === undefined) senders.set(channel, (send = site.host.sender(channel, method as never)));
      return Reflect.apply(send!, this, args);
    };
  });
}

function watchPublish(site: Site, channels: CqrsChannels, bus: object): void {
  const publishing =
    (events: (args: readonly unknown[]) => readonly unknown[]) =>
    (method: Method): Method =>
      function (this: unknown, ...args: unknown[]): unknown {
        const outer = channels.publishing;
        const nodes = events(args).map((event) => channels.of("event", event));
        channels.publishing = nodes.length === 1 ? nodes[0] : undefined;
        return timedCall(method, this, args, (call) => {
          channels.publishing = outer;
          for (const node of nodes) if (node !== undefined) site.host.sent(node, call);
        });
      };
  site.replace(
    bus,
    "publish",
    publishing(([event]) => [event]),
  );
  site.replace(
    bus,
    "publishAll",
    publishing(([all]) => (Array.isArray(all) ? all : [])),
  );
}

/**
 * A saga makes commands of events. Each command counts as a message that it handled, of the event that is being published at that
 * moment; for a command that comes later, the event is not known.
 */
function watchSaga(site: Site, channels: CqrsChannels, component: Component, name: string): void {
  const { host } = site;
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "service_activator",
    componentType: "nest:saga",
    properties: { injected: portNames(component) },
  });
  site.wrap(component, name, (method) => {
    return function saga(this: unknown, ...args) {
      const commands = Reflect.apply(method, this, args);
      return observed(commands, (command, next) => {
        if (!command) return next();
        const event = channels.publishing;
        const now = performance.now();
        host.handled(node, { start: now, end: now }, event && host.way(event, "input", node));
        return host.within(node, next);
      });
    };
  });
}
