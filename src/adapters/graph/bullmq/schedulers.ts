import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { type NodeDeclaration, shortened } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { type Queue, type Queues, SYSTEM } from "./queues.ts";

/** How many schedulers are shown. */
const MAX_SCHEDULERS = 200;

/** How BullMQ 5 made the key of a repeatable job: a hash, or `name:id:endDate:zone:pattern`. */
const GENERATED = /^[0-9a-f]{32}$|^[^:]*(:[^:]*){4,}$/;

/**
 * Make jobs by a schedule. A scheduler is stored in Redis, and the worker that takes one of its jobs makes the next: it belongs to
 * its queue, in every application, and not to a process.
 */
export class Schedulers {
  readonly #host: GraphHost;
  readonly #nodes = new Map<string, GraphNode>();

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** The application made a scheduler, or changed it. `job` is its next job. */
  declare(queue: Queue, id: unknown, repeat: unknown, job: unknown): void {
    const key = field(job, "repeatJobKey") ?? field(field(job, "opts"), "repeatJobKey") ?? id;
    if (typeof key !== "string" || key === "") return;
    const declaration = schedulerOf(queue, this.#host.shownName(key), field(job, "name"), scheduleOf(repeat));
    if (!this.#nodes.has(declaration.key!) && this.#nodes.size >= MAX_SCHEDULERS) return;
    const node = this.#host.declare(declaration);
    this.#nodes.set(declaration.key!, node);
    this.#host.link(node, "output", queue.node);
    queue.hold(node);
  }

  /** The application removed one. */
  remove(queue: Queue, id: unknown): void {
    if (typeof id !== "string") return;
    const shown = this.#host.shownName(id);
    // One node may stand for many with generated names.
    if (shown !== id) return;
    const key = keyOf(queue, shown);
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    this.#nodes.delete(key);
    queue.release(node);
    this.#host.withdraw(node);
  }

  /** A worker has taken a job that a scheduler made. */
  fired(queue: Queue, id: string, jobName: unknown): void {
    const now = performance.now();
    const shown = this.#host.shownName(id);
    const key = keyOf(queue, shown);
    let node = this.#nodes.get(key);
    if (node === undefined) {
      if (this.#nodes.size >= MAX_SCHEDULERS) return;
      node = this.#host.observe(schedulerOf(queue, shown, jobName));
      this.#nodes.set(key, node);
    }
    this.#host.received(node, { start: now, end: now });
    const way = this.#host.way(node, "output", queue.node);
    if (way !== undefined) way.tally.count++;
  }
}

/** The part of a queue that a scheduler's key needs. */
interface QueueName {
  readonly place: Queues;
  readonly name: string;
}

/** The declaration of a scheduler. `id` is as the graph shows it. */
export function schedulerOf(queue: QueueName, id: string, jobName?: unknown, properties?: Properties): NodeDeclaration {
  const name = GENERATED.test(id) && typeof jobName === "string" && jobName !== "" ? jobName : id;
  return {
    name: shortened(name),
    pattern: "inbound_channel_adapter",
    componentType: "bullmq:scheduler",
    properties,
    key: keyOf(queue, id),
  };
}

/** The properties of a schedule. */
export function scheduleOf(repeat: unknown): Properties {
  const [cron, every] = [field(repeat, "pattern") ?? field(repeat, "cron"), Number(field(repeat, "every") ?? 0)];
  const zone = field(repeat, "tz");
  return {
    ...(typeof cron === "string" && cron.length <= 255 && { cron }),
    ...(every > 0 && Number.isFinite(every) && { every }),
    ...(typeof zone === "string" && zone.length <= 255 && zone !== "" && { timeZone: zone }),
  };
}

function keyOf({ place, name }: QueueName, id: string): string {
  return channelKey(SYSTEM, place.broker, "scheduler", `${place.prefix}:${name}:${id}`);
}
