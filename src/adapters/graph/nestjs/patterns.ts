import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import type { Method } from "../../kit/interception/replaced-method.ts";
import {
  type Component,
  isObject,
  metadataOf,
  methodNames,
  microservicesOf,
  portNames,
  serversOf,
} from "./container.ts";
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

interface PatternHandler {
  readonly node: GraphNode;
  readonly patterns: readonly unknown[];
  /** Of which transport alone, if any. */
  readonly transport: unknown;
  readonly ways: Way[];
}

/** Methods that handle messages of microservices, `Class.method`. */
export function watchPatterns(site: Site, controllers: readonly Component[], app: object): void {
  const handlers = controllers.flatMap((component) =>
    methodNames(component).flatMap((name) => watchPattern(site, component, name) ?? []),
  );
  const known = new WeakSet<object>();
  const connect = () => {
    for (const instance of serversOf(app)) {
      if (known.has(instance)) continue;
      known.add(instance);
      const server = { id: instance.transportId, transport: transportOfServer(site.host, instance), instance };
      nameBroker(site, server.transport, instance);
      for (const handler of handlers) addWays(site, handler, server);
    }
  };
  connect();
  for (const microservice of microservicesOf(app)) registerAgain(microservice);
  site.replace(app, "connectMicroservice", (method) => {
    return function connectMicroservice(this: unknown, ...args) {
      const microservice = Reflect.apply(method, this, args);
      connect();
      return microservice;
    };
  });
}

/** A server that is connected already has taken the methods as they were. Until it listens, it can take them again. */
function registerAgain(microservice: object): void {
  const server = field(microservice, "serverInstance");
  const [getHandlers, register] = [field(server, "getHandlers"), field(microservice, "registerListeners")];
  if (typeof getHandlers !== "function" || typeof register !== "function") return;
  const handlers: unknown = Reflect.apply(getHandlers, server, []);
  if (!(handlers instanceof Map)) return;
  const before = [...handlers];
  if (before.length === 0) return;
  handlers.clear();
  Reflect.apply(register, microservice, []);
  for (const [pattern, handler] of before) if (!handlers.has(pattern)) handlers.set(pattern, handler);
}

/** The broker of a server or client sends its name when it is connected. */
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

function watchPattern(site: Site, component: Component, name: string): PatternHandler | undefined {
  const { host } = site;
  const method: unknown = Reflect.get(component.holder, name);
  const handlerType = metadataOf("handlerType", method);
  if (handlerType === undefined) return undefined;
  const patterns = [metadataOf("pattern", method) ?? []].flat();
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "service_activator",
    componentType: handlerType === EVENT ? "nest:event-pattern" : "nest:message-pattern",
    properties: { patterns: patterns.map(textOf), injected: portNames(component) },
  });
  const ways: Way[] = [];
  site.wrap(component, name, (handler) => {
    const plain = host.handler(node, handler as never) as Method;
    let measured = plain;
    let by: Way | undefined;
    return function handled(this: unknown, ...args) {
      const way = ways.length === 1 ? ways[0]! : undefined;
      if (way === undefined) return Reflect.apply(plain, this, args);
      if (way !== by) {
        by = way;
        measured = host.handler(node, handler as never, { input: way.input }) as Method;
      }
      for (const route of way.routes) if (route !== undefined) route.tally.count++;
      return Reflect.apply(measured, this, args);
    };
  });
  return { node, patterns, transport: metadataOf("transport", method), ways };
}

function addWays(site: Site, { node, patterns, transport, ways }: PatternHandler, server: Server): void {
  if (transport !== undefined && server.id !== undefined && transport !== server.id) return;
  for (const pattern of patterns) ways.push(wayTo(site, node, server, pattern));
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
