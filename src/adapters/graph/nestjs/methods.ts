import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, timedCall } from "../../kit/interception/replaced-method.ts";
import { bullmqPlace, bullmqQueue } from "../../kit/messaging/broker-destinations.ts";
import { watchedEmitters, wildcardDelimiter } from "../../kit/messaging/emitter-target.ts";
import { type EventChannel, EventChannels, isEventPattern, matchesEvent } from "../../kit/messaging/event-channels.ts";
import { type Component, isEmitter2, metadataOf, methodNames, type Port, portNames } from "./container.ts";
import type { Site } from "./site.ts";

/** How many events have nodes of their own. */
const MAX_EVENTS = 200;

/** Methods that listen to events of @nestjs/event-emitter, `Class.method`, and what is emitted. */
export function watchListeners(site: Site, components: readonly Component[], ports: readonly Port[]): void {
  const emitter = ports.find(({ kind }) => kind === "emitter")?.object;
  if (emitter === undefined || !isEmitter2(emitter)) return;
  watchedEmitters.enter(emitter, site.host.yields ? () => site.end() : undefined);
  site.atEnd(() => watchedEmitters.leave(emitter));
  const delimiter = wildcardDelimiter(emitter);
  const channels = new EventChannels(site.host, "events", MAX_EVENTS);
  // As long as `emit` runs: listeners are called meanwhile.
  let emitting: EventChannel | undefined;

  for (const component of components) {
    for (const name of methodNames(component)) {
      const events = eventsOf(metadataOf("onEvent", Reflect.get(component.holder, name)), delimiter);
      if (events.length === 0) continue;
      const node = site.endpoint({
        name: `${component.type.name}.${name}`,
        pattern: "service_activator",
        componentType: "nest:listener",
        properties: { events, injected: portNames(component) },
      });
      const inputs = new Map<EventChannel, GraphLink | undefined>();
      for (const event of events) {
        const channel = channels.listened(event);
        inputs.set(channel, site.host.link(channel.node, "input", node));
      }
      site.handle(component, name, node, [...inputs.values()], () => emitting && inputOf(inputs, emitting, delimiter));
    }
  }

  for (const name of ["emit", "emitAsync"]) {
    site.replace(emitter, name, (method) => {
      return function (this: unknown, ...args) {
        const event = args[0];
        if (event === "newListener" || event === "removeListener") return Reflect.apply(method, this, args);
        const channel = channels.emitted(Array.isArray(event) ? event.join(delimiter ?? ".") : event);
        if (delimiter !== undefined) for (const route of channels.routes(channel, delimiter)) route.tally.count++;
        const outer = emitting;
        emitting = channel;
        return timedCall(method, this, args, (call) => {
          emitting = outer;
          site.host.sent(channel.node, call);
        });
      };
    });
  }
}

function inputOf(inputs: ReadonlyMap<EventChannel, GraphLink | undefined>, emitting: EventChannel, delimiter = "") {
  if (inputs.has(emitting)) return inputs.get(emitting);
  if (delimiter === "") return undefined;
  for (const [{ event }, link] of inputs) {
    if (isEventPattern(event, delimiter) && matchesEvent(event, emitting.event, delimiter)) return link;
  }
  return undefined;
}

/** One decorator may name several events, and a method may have several decorators. */
function eventsOf(metadata: unknown, delimiter = "."): readonly string[] {
  const all = Array.isArray(metadata) ? metadata : metadata === undefined ? [] : [metadata];
  const events = all.flatMap((one) => {
    const event = field(one, "event");
    // An array names the parts of one event, to an emitter with wildcards.
    if (Array.isArray(event)) return [event.map(String).join(delimiter)];
    return typeof event === "symbol" || event === undefined ? [] : [String(event)];
  });
  return [...new Set(events)];
}

const SYSTEM = "bullmq";

/**
 * Queues of BullMQ and the classes that process them, by the names of the classes. Where the adapter of BullMQ counts, its numbers
 * are those of the queues, and its workers the ones that count.
 */
export function watchQueues(site: Site, components: readonly Component[], ports: readonly Port[]): void {
  const queues = ports.filter(({ kind }) => kind === "queue").map(({ object }) => object);
  for (const queue of queues) watchQueue(site, queue);
  for (const component of components) {
    const processor = metadataOf("processor", component.type);
    if (processor !== undefined) watchProcessor(site, component, String(field(processor, "name")), queues);
  }
}

function watchQueue(site: Site, queue: object): void {
  const { host } = site;
  const node = queueNode(site, queue, String(field(queue, "name")));
  site.replace(queue, "add", (method) => {
    const send = host.sender(node, method as never) as Method;
    return function add(this: unknown, ...args) {
      return Reflect.apply(host.counts(SYSTEM) ? send : method, this, args);
    };
  });
  site.replace(queue, "addBulk", (method) => {
    return function addBulk(this: unknown, ...args) {
      const count = Array.isArray(args[0]) ? args[0].length : 0;
      const result = Reflect.apply(method, this, args);
      if (count === 0 || !(result instanceof Promise) || !host.counts(SYSTEM)) return result;
      const start = performance.now();
      return result.then(
        (jobs) => {
          host.sent(node, { start, end: performance.now(), count });
          return jobs;
        },
        (error) => {
          host.sent(node, { start, end: performance.now(), count, failed: true });
          throw error;
        },
      );
    };
  });
}

function watchProcessor(site: Site, component: Component, name: string, queues: readonly object[]): void {
  const { host } = site;
  const concurrency = field(metadataOf("worker", component.type), "concurrency");
  const node = site.endpoint({
    name: component.type.name,
    pattern: "service_activator",
    componentType: "bullmq:worker",
    properties: {
      ...(typeof concurrency === "number" && { concurrency }),
      injected: portNames(component),
    },
  });
  const queue = queueNode(site, queues.find((one) => field(one, "name") === name) ?? {}, name);
  const input = host.link(queue, "input", node);
  site.wrap(component, "process", (method) => {
    const measured = host.handler(node, method as never, { input }) as Method;
    return function process(this: unknown, ...args) {
      if (host.counts(SYSTEM)) return Reflect.apply(measured, this, args);
      return host.within(node, () => Reflect.apply(method, this, args));
    };
  });
}

function queueNode({ host }: Site, queue: object, name: string): GraphNode {
  return host.declare(bullmqQueue(host.shownName(name), bullmqPlace(queue, host)));
}

/** By their numbers in NestJS. */
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "ALL", "OPTIONS", "HEAD", "SEARCH"];

/** Methods that answer HTTP requests, `Class.method`. They bring messages in; their outcome is not that of a message. */
export function watchRoutes(site: Site, controllers: readonly Component[]): void {
  for (const component of controllers) {
    const prefixes = paths(metadataOf("path", component.type));
    for (const name of methodNames(component)) {
      const method: unknown = Reflect.get(component.holder, name);
      const own = metadataOf("path", method);
      if (own === undefined) continue;
      const routes = prefixes.flatMap((prefix) => paths(own).map((path) => joined(prefix, path)));
      const verb = METHODS[Number(metadataOf("method", method))];
      const node = site.endpoint({
        name: `${component.type.name}.${name}`,
        pattern: "inbound_gateway",
        componentType: "nest:route",
        properties: { ...(verb !== undefined && { method: verb }), paths: routes, injected: portNames(component) },
      });
      site.wrap(component, name, (handler) => {
        return function route(this: unknown, ...args) {
          return site.host.within(node, () => Reflect.apply(handler, this, args));
        };
      });
    }
  }
}

function paths(path: unknown): readonly string[] {
  return [path ?? ""].flat().map(String);
}

function joined(...parts: readonly string[]): string {
  return `/${parts
    .flatMap((part) => part.split("/"))
    .filter((part) => part !== "")
    .join("/")}`;
}

const KINDS = ["cron", "interval", "timeout"] as const;

/** Methods that @nestjs/schedule calls, `Class.method`. */
export function watchSchedules(site: Site, components: readonly Component[]): void {
  for (const component of components) {
    for (const name of methodNames(component)) {
      const method: unknown = Reflect.get(component.holder, name);
      for (const kind of KINDS) {
        const schedule = metadataOf(kind, method);
        if (schedule !== undefined) watchSchedule(site, component, name, kind, scheduleOf(kind, schedule));
      }
    }
  }
}

function watchSchedule(site: Site, component: Component, name: string, kind: string, properties: Properties): void {
  const { host } = site;
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "inbound_channel_adapter",
    componentType: `nest:${kind}`,
    properties: { ...properties, injected: portNames(component) },
  });
  site.wrap(component, name, (method) => {
    return function scheduled(this: unknown, ...args) {
      const start = performance.now();
      const done = (failed: boolean) => host.received(node, { start, end: performance.now(), failed });
      let result: unknown;
      try {
        result = host.within(node, () => Reflect.apply(method, this, args));
      } catch (error) {
        done(true);
        throw error;
      }
      if (!(result instanceof Promise)) {
        done(false);
        return result;
      }
      return result.then(
        (value) => {
          done(false);
          return value;
        },
        (error) => {
          done(true);
          throw error;
        },
      );
    };
  });
}

function scheduleOf(kind: (typeof KINDS)[number], schedule: unknown): Properties {
  const value = field(schedule, kind === "cron" ? "cronTime" : "timeout");
  const zone = field(schedule, "timeZone");
  return {
    [kind]: (value instanceof Date ? value.toISOString() : fit(value)) ?? null,
    ...(typeof zone === "string" && { timeZone: zone }),
  };
}

function fit(value: unknown): Properties[string] | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
