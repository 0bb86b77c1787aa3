import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { DEFAULT_PREFIX } from "./broker.ts";
import type { BullmqOptions } from "./options.ts";
import type { Queue } from "./queues.ts";
import type { BullmqWorker } from "./target.ts";

/** The workers of one name: one node of the graph. */
export interface Handler {
  readonly name: string;
  readonly queue: Queue;
  node: GraphNode;
  input: GraphLink | undefined;
  /** Those that are open. */
  readonly active: Set<BullmqWorker>;
}

/** The functions that process jobs, as nodes of the graph. */
export class Workers {
  readonly #host: GraphHost;
  readonly #naming: BullmqOptions["name"];
  readonly #handlers = new Map<string, Handler>();

  constructor(host: GraphHost, naming: BullmqOptions["name"]) {
    this.#host = host;
    this.#naming = naming;
  }

  /** `worker` processes the jobs of `queue`. */
  add(worker: BullmqWorker, queue: Queue): Handler {
    const name = this.#nameOf(worker, queue);
    const key = keyOf(this.#host.app, queue, name);
    let handler = this.#handlers.get(key);
    if (handler === undefined) {
      const node = this.#declare(queue, name);
      handler = { name, queue, node, input: this.#host.link(queue.node, "input", node), active: new Set() };
      this.#handlers.set(key, handler);
    }
    handler.active.add(worker);
    queue.users.add(handler);
    this.#describe(handler);
    return handler;
  }

  /** A worker is closed. Its node stays until it is pruned. */
  end(handler: Handler, worker: BullmqWorker): void {
    if (handler.active.delete(worker) && handler.active.size > 0) this.#describe(handler);
  }

  /** Drops what nobody processes with any more, and reads again what may be changed at run time. */
  prune(): void {
    for (const [key, handler] of this.#handlers) {
      if (handler.active.size > 0) {
        this.#describe(handler);
        continue;
      }
      this.#handlers.delete(key);
      handler.queue.users.delete(handler);
      this.#host.withdraw(handler.node);
    }
  }

  #nameOf(worker: BullmqWorker, { name: queue }: Queue): string {
    const given = field(field(worker, "opts"), "name");
    const processor = field(worker, "processFn");
    const ownFunction = typeof processor === "function" && !isSandboxed(worker);
    const functionName = ownFunction ? processor.name.replace(/^(bound )+/, "") : "";
    const workerName = typeof given === "string" && given !== "" ? this.#host.shownName(given) : undefined;
    const name =
      this.#naming?.({ queue, workerName, functionName }) ?? `${queue}.${workerName || functionName || "worker"}`;
    return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  }

  #describe({ queue, name, active }: Handler): void {
    this.#declare(queue, name, propertiesOf(active));
  }

  #declare(queue: Queue, name: string, properties?: Properties): GraphNode {
    return this.#host.declare({
      name,
      pattern: "service_activator",
      componentType: "bullmq:worker",
      properties,
      key: keyOf(this.#host.app, queue, name),
    });
  }
}

/** Whether a worker's function runs in a process or thread of its own. */
function isSandboxed(worker: BullmqWorker): boolean {
  return field(worker, "childPool") !== undefined;
}

function propertiesOf(workers: ReadonlySet<BullmqWorker>): Properties {
  let concurrency = 0;
  let limiter: unknown;
  let sandboxed = false;
  for (const worker of workers) {
    const own = Number(field(worker, "concurrency"));
    concurrency += Number.isFinite(own) ? own : 1;
    limiter ??= field(field(worker, "opts"), "limiter");
    sandboxed ||= isSandboxed(worker);
  }
  const [max, duration] = [Number(field(limiter, "max")), Number(field(limiter, "duration"))];
  return {
    workers: workers.size,
    concurrency,
    ...(Number.isFinite(max) && Number.isFinite(duration) && { limiter: { max, duration } }),
    ...(sandboxed && { sandboxed }),
  };
}

/** Queues of one name under two prefixes are two, and so are their workers. */
function keyOf(app: string, { place: { prefix } }: Queue, name: string): string {
  return endpointKey(app, "service_activator", prefix === DEFAULT_PREFIX ? name : `${prefix}:${name}`);
}
