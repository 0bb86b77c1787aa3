import type { GraphLink } from "../integration-graph/link.ts";
import type { GraphNode } from "../integration-graph/node.ts";
import { type Component, field, isObject, methodNames, type NestServer } from "./container.ts";
import { metadataOf } from "./metadata.ts";
import { portNames } from "./ports.ts";
import type { Site } from "./site.ts";
import { type Transport, transportOfServer } from "./transports.ts";

/** The numbers of @nestjs/microservices. */
const EVENT = 2;

interface Server {
  readonly id: unknown;
  readonly transport: Transport;
  readonly instance: object;
}

/** What comes to a handler by one pattern of one server: the links from each channel to the next, and to the handler. */
interface Way {
  readonly routes: readonly (GraphLink | undefined)[];
  readonly input: GraphLink | undefined;
}

/** Methods that handle messages of microservices, `Class.method`. */
export function watchPatterns(site: Site, controllers: readonly Component[], servers: readonly NestServer[]): void {
  const known = servers.map((instance) => ({
    id: instance.transportId,
    transport: transportOfServer(site.host, instance),
    instance,
  }));
  for (const { transport, instance } of known) nameBroker(site, transport, instance);
  for (const component of controllers) {
    for (const name of methodNames(component)) watchPattern(site, component, name, known);
  }
}

/** The broker of a server or client tells its name when it is connected. */
export function nameBroker(site: Site, { system, unnamed }: Transport, object: object): void {
  if (unnamed === undefined) return;
  site.replace(object, "setupChannel", (method) => {
    return function setupChannel(this: unknown, ...args) {
      const cluster = field(field(field(args[0], "connection"), "serverProperties"), "cluster_name");
      if (typeof cluster === "string" && cluster !== "") site.host.nameBroker(system, unnamed, cluster);
      return Reflect.apply(method, this, args);
    };
  });
}

function watchPattern(site: Site, component: Component, name: string, servers: readonly Server[]): void {
  const method: unknown = Reflect.get(component.holder, name);
  const handlerType = metadataOf("handlerType", method);
  if (handlerType === undefined) return;
  const transport = metadataOf("transport", method);
  const patterns = [metadataOf("pattern", method) ?? []].flat();
  const serving = servers.filter(({ id }) => transport === undefined || id === undefined || transport === id);
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "service_activator",
    componentType: handlerType === EVENT ? "nest:event-pattern" : "nest:message-pattern",
    properties: { patterns: patterns.map(textOf), injected: portNames(component) },
  });
  const ways = serving.flatMap((server) => patterns.map((pattern) => wayTo(site, node, server, pattern)));
  const [only] = ways;
  site.handle(component, name, node, ways.length === 1 ? [only!.input] : []);
  if (ways.length !== 1 || only!.routes.length === 0) return;
  site.wrap(component, name, (handler) => {
    return function routed(this: unknown, ...args) {
      for (const route of only!.routes) if (route !== undefined) route.tally.count++;
      return Reflect.apply(handler, this, args);
    };
  });
}

function wayTo({ host }: Site, node: GraphNode, { transport, instance }: Server, pattern: unknown): Way {
  const channels = transport.takenFrom(host.shownName(normalized(instance, pattern))).map((one) => host.declare(one));
  const routes = channels.slice(1).map((channel, at) => host.link(channels[at]!, "route", channel));
  return { routes, input: host.link(channels.at(-1)!, "input", node) };
}

/** A pattern as servers and clients compare it: objects in the order of their members. */
export function normalized(of: object, pattern: unknown): string {
  const normalize = field(of, "normalizePattern");
  const text = typeof normalize === "function" ? Reflect.apply(normalize, of, [pattern]) : undefined;
  return typeof text === "string" ? text : textOf(pattern);
}

function textOf(pattern: unknown): string {
  return isObject(pattern) ? JSON.stringify(pattern) : String(pattern);
}
