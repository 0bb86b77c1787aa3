import type { GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import type { Method } from "../../kit/interception/replaced-method.ts";
import { bullmqPlace, bullmqQueue } from "../../kit/messaging/broker-destinations.ts";
import type { Component } from "./container.ts";
import { metadataOf } from "./metadata.ts";
import { type Port, portNames } from "./ports.ts";
import type { Site } from "./site.ts";

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
