import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { DEFAULT_PREFIX, type Place, SYSTEM } from "./broker.ts";

/** So many queues that only jobs tell of are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** A queue that something of the application's works with. */
export class Queue {
  readonly place: Place;
  /** As the graph shows it. */
  readonly name: string;
  node: GraphNode;
  /** Whether jobs are taken out one by one, by the application itself. */
  polled = false;
  /** Who works with it. */
  readonly users = new Set<object>();
  /** Who listens to what becomes of its jobs. */
  readonly listeners = new Set<object>();

  constructor(place: Place, name: string, node: GraphNode) {
    this.place = place;
    this.name = name;
    this.node = node;
  }
}

/** The queues that the application works with, each one node however many objects stand for it. */
export class Queues {
  readonly #host: GraphHost;
  readonly #queues = new Map<string, Queue>();
  readonly #seen = new Map<string, GraphNode>();

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** `user` works with a queue until it is released. */
  hold(place: Place, name: string, user: object, properties?: Properties): Queue {
    const shown = this.#host.shownName(name);
    const key = keyOf(place, shown);
    let queue = this.#queues.get(key);
    if (queue === undefined || !queue.node.attached) {
      const users = queue?.users ?? [];
      queue = new Queue(place, shown, this.#declare(place, shown, queue?.polled ?? false, properties));
      for (const other of users) queue.users.add(other);
      this.#queues.set(key, queue);
      this.#seen.clear();
    } else if (properties !== undefined) {
      queue.node = this.#declare(place, shown, queue.polled, properties);
    }
    queue.users.add(user);
    return queue;
  }

  /** Nobody has to work with a queue any more. It stays until it is pruned, as it may be a pause. */
  release(queue: Queue, user: object): void {
    queue.users.delete(user);
  }

  /** Jobs are taken out of a queue one by one. */
  poll(queue: Queue): void {
    if (queue.polled) return;
    queue.polled = true;
    queue.node = this.#declare(queue.place, queue.name, true);
  }

  /** The node of a queue that a job tells of. */
  seen(place: Place, name: string): GraphNode {
    const asked = keyOf(place, name);
    const known = this.#seen.get(asked);
    if (known !== undefined) return known;
    const shown = this.#host.shownName(name);
    const node = this.#queues.get(keyOf(place, shown))?.node ?? this.#host.observe(declarationOf(place, shown));
    if (this.#seen.size >= MAX_REMEMBERED) this.#seen.clear();
    this.#seen.set(asked, node);
    return node;
  }

  /** Drops the queues that nothing works with any more. */
  prune(): void {
    for (const [key, queue] of this.#queues) {
      if (queue.users.size > 0) continue;
      this.#queues.delete(key);
      this.#host.withdraw(queue.node);
    }
    this.#seen.clear();
  }

  /** Somebody else may have declared the queue already, as one that is polled or as one that is not. */
  #declare(place: Place, name: string, polled: boolean, properties?: Properties): GraphNode {
    const node = this.#host.declare(declarationOf(place, name, { polled, properties }));
    return node.key === "" ? this.#host.declare(declarationOf(place, name, { polled: !polled, properties })) : node;
  }
}

function keyOf({ broker, prefix }: Place, name: string): string {
  return `${broker} ${prefix}:${name}`;
}

/** A queue as the graph is told of it. */
export function declarationOf(
  place: Place,
  name: string,
  { polled = false, properties }: { readonly polled?: boolean; readonly properties?: Properties | undefined } = {},
): NodeDeclaration {
  const { broker, prefix } = place;
  return {
    name,
    pattern: polled ? "pollable_channel" : "message_channel",
    componentType: "bullmq:queue",
    properties: prefix === DEFAULT_PREFIX ? properties : { prefix, ...properties },
    key: channelKey(SYSTEM, broker, "queue", `${prefix}:${name}`),
  };
}
