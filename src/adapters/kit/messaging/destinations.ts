import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";

/** How many names that only messages mention are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** Learns that a destination is unused: the registry that made it. */
interface Keeper {
  unused(destination: Destination): void;
}

/** A queue, topic, stream or other channel of a broker that the application uses, as a node of the graph. */
export class Destination<K extends string = string> {
  readonly kind: K;
  /** The name as the graph shows it. */
  readonly name: string;
  node: GraphNode;
  /** Whether this node stands for all destinations with generated names of one form. */
  temporary = false;
  /** Whether it stands for several destinations by a wildcard. */
  wildcard = false;
  /** Whether the application takes messages out one by one. */
  polled = false;
  /** What the destination is kept for: objects that use it, or words for reasons. */
  readonly users = new Set<unknown>();
  /** The links that lead here from the names that messages were sent to; undefined for a name without a node of its own. */
  readonly routes = new Map<string, GraphLink | undefined>();
  protected readonly registry: Keeper;

  constructor(registry: Keeper, kind: K, name: string, node: GraphNode) {
    this.registry = registry;
    this.kind = kind;
    this.name = name;
    this.node = node;
  }

  /** Keeps the destination in the graph for `user`. */
  hold(user: unknown): void {
    this.users.add(user);
  }

  /** `user` no longer needs it. Unused, it leaves the graph: at once, or when its registry is pruned if that `lingers`. */
  release(user: unknown): void {
    if (this.users.delete(user) && this.users.size === 0) this.registry.unused(this);
  }
}

/** How the destinations of a library are shown. */
export interface DestinationOptions<K extends string, D extends Destination<K>> {
  /** The kinds of destinations. */
  readonly kinds: readonly K[];
  /** The node of a destination. `name` is as the graph shows it. */
  readonly declaration: (
    kind: K,
    name: string,
    details: { readonly polled: boolean; readonly properties?: Properties | undefined },
  ) => NodeDeclaration;
  /** What is removed from a name before it is shown, such as generated parts or keys. By default, nothing. */
  readonly trimmed?: ((name: string) => string) | undefined;
  /** Whether unused destinations stay until {@link DestinationRegistry.prune}; by default, they leave the graph at once. */
  readonly lingers?: boolean | undefined;
  /**
   * How many destinations that only messages mention have nodes of their own between two rebuilds; by default, all. A further one
   * counts for the first wildcard that matches it, or else for `others`, a wildcard that matches all.
   */
  readonly limit?:
    | {
        readonly max: number;
        readonly others: string;
        readonly isWildcard: (name: string) => boolean;
        readonly matches: (wildcard: string, name: string) => boolean;
      }
    | undefined;
  /** How many links lead to one destination from the names that messages were sent to; by default, no limit of its own. */
  readonly maxRoutes?: number | undefined;
  /** The class of the destinations; {@link Destination} by default. */
  readonly type?: DestinationType<K, D> | undefined;
}

type DestinationType<K extends string, D extends Destination<K>> = new (
  ...args: ConstructorParameters<typeof Destination<K>>
) => D;

/**
 * The destinations of one broker. Each is one node, however many objects of the library stand for it, and is in the graph as long
 * as the application uses it.
 *
 * @example
 * ```ts
 * const queues = new DestinationRegistry(host, {
 *   kinds: ["queue"],
 *   declaration: (kind, name) => ({
 *     name,
 *     pattern: "message_channel",
 *     componentType: `tiny:${kind}`,
 *     key: channelKey("tinyqueue", broker, kind, name),
 *   }),
 * });
 * const orders = queues.hold("queue", "orders", consumer); // declared, before any message
 * host.sent(queues.sentTo("queue", "mails"), outcome(start, false)); // seen
 * ```
 */
export class DestinationRegistry<K extends string, D extends Destination<K> = Destination<K>> {
  readonly #host: GraphHost;
  readonly #options: DestinationOptions<K, D>;
  readonly #kinds: {
    readonly [kind: string]: { readonly held: Map<string, D>; readonly sent: Map<string, GraphNode> };
  };
  readonly #seen = new Set<string>();

  constructor(host: GraphHost, options: DestinationOptions<K, D>) {
    this.#host = host;
    this.#options = options;
    this.#kinds = Object.fromEntries(options.kinds.map((kind) => [kind, { held: new Map(), sent: new Map() }]));
  }

  /** A name as the graph shows it. */
  shown(name: string): string {
    return this.#host.shownName(this.#options.trimmed?.(name) ?? name);
  }

  /** A destination that is held. */
  find(kind: K, name: string): D | undefined {
    return this.#known(kind, name, this.shown(name));
  }

  /** The destinations of a kind that are held. */
  held(kind: K): Iterable<D> {
    return this.#kinds[kind]!.held.values();
  }

  /** Declares a destination, which stays in the graph until all its users release it. Properties are added to those before. */
  hold(kind: K, name: string, user: unknown, properties?: Properties): D {
    const shown = this.shown(name);
    const { held, sent } = this.#kinds[kind]!;
    let destination = this.#known(kind, name, shown);
    if (destination === undefined) {
      const Type = (this.#options.type ?? Destination) as DestinationType<K, D>;
      const node = this.#declare(kind, shown, false, properties);
      destination = new Type(this, kind, shown, node);
      destination.wildcard = this.#options.limit?.isWildcard(shown) ?? false;
      held.set(shown, destination);
      sent.clear();
    } else if (properties !== undefined || !destination.node.attached) {
      destination.node = this.#declare(kind, destination.name, destination.polled, properties);
      sent.clear();
    }
    if (destination.name !== name) destination.temporary = true;
    destination.hold(user);
    return destination;
  }

  /** Says that the application takes messages out of a destination one by one. */
  poll(destination: D): void {
    if (destination.polled) return;
    destination.polled = true;
    destination.node = this.#declare(destination.kind, destination.name, true);
    this.#kinds[destination.kind]!.sent.clear();
  }

  /** The node that a message is sent to. Looked up once for each name. */
  sentTo(kind: K, name: unknown): GraphNode {
    const { sent } = this.#kinds[kind]!;
    const text = typeof name === "string" ? name : String(name);
    const known = sent.get(text);
    if (known !== undefined) return known;
    const node = this.#seenNode(kind, this.shown(text));
    if (sent.size >= MAX_REMEMBERED) sent.clear();
    sent.set(text, node);
    return node;
  }

  /** Counts a message that was sent to `name` and came to the application by way of `to`. */
  came(kind: K, name: string, to: D): void {
    let link = to.routes.get(name);
    if (link === undefined && !to.routes.has(name)) {
      if (to.routes.size >= (this.#options.maxRoutes ?? Number.POSITIVE_INFINITY)) return;
      const from = this.sentTo(kind, name);
      if (from.key !== to.node.key && this.#isShown(kind, this.shown(name))) {
        link = this.#host.way(from, "route", to.node);
      }
      if (to.routes.size >= MAX_REMEMBERED) to.routes.clear();
      to.routes.set(name, link);
    } else if (link?.dormant) {
      link = this.#host.way(link.from, "route", link.to);
      to.routes.set(name, link);
    }
    if (link !== undefined) link.tally.count++;
  }

  /** Removes destinations that lost their last user and were kept, and makes room for other names that messages mention. */
  prune(): void {
    for (const { held, sent } of Object.values(this.#kinds)) {
      for (const destination of held.values()) {
        if (this.#options.limit !== undefined) destination.routes.clear();
        if (destination.users.size === 0) this.#withdraw(destination);
      }
      sent.clear();
    }
    this.#seen.clear();
  }

  /** The declaration of a destination. `name` is as the graph shows it. */
  declaration(kind: K, name: string, properties?: Properties): NodeDeclaration {
    return this.#options.declaration(kind, name, { polled: false, properties });
  }

  /** For {@link Destination.release}. */
  unused(destination: Destination): void {
    if (!this.#options.lingers) this.#withdraw(destination);
  }

  /** Names that have come to share a node are still held one by one. */
  #known(kind: K, name: string, shown: string): D | undefined {
    const { held } = this.#kinds[kind]!;
    return (shown === name ? undefined : held.get(name)) ?? held.get(shown);
  }

  #withdraw(destination: Destination): void {
    const { held, sent } = this.#kinds[destination.kind]!;
    if (held.get(destination.name) !== destination) return;
    held.delete(destination.name);
    sent.clear();
    this.#host.withdraw(destination.node);
  }

  /** Another adapter may have declared it already as one that is polled, or as one that is not: then so does this one. */
  #declare(kind: K, name: string, polled: boolean, properties?: Properties): GraphNode {
    const declaration = this.#options.declaration(kind, name, { polled, properties });
    const node = this.#host.declare(declaration);
    if (node.key !== "") return node;
    const other = this.#options.declaration(kind, name, { polled: !polled, properties });
    return other.pattern === declaration.pattern ? node : this.#host.declare(other);
  }

  #isShown(kind: K, shown: string): boolean {
    const { limit } = this.#options;
    return limit === undefined || this.#seen.has(`${kind} ${shown}`) || this.#kinds[kind]!.held.has(shown);
  }

  #seenNode(kind: K, shown: string): GraphNode {
    const { held } = this.#kinds[kind]!;
    const known = held.get(shown);
    if (known !== undefined) return known.node;
    const { limit } = this.#options;
    if (limit === undefined) return this.#host.observe(this.declaration(kind, shown));
    if (this.#isShown(kind, shown) || this.#seen.size < limit.max) {
      this.#seen.add(`${kind} ${shown}`);
      return this.#host.observe(this.declaration(kind, shown));
    }
    this.#host.collapsed(shown);
    for (const { wildcard, name, node } of held.values()) if (wildcard && limit.matches(name, shown)) return node;
    return this.#host.observe(this.declaration(kind, limit.others));
  }
}

/**
 * Keeps the strings, numbers and flags of `values`, which an operator can read. Drops strings of more than 255 characters.
 *
 * @example
 * ```ts
 * plainProperties({ durable: true, expires: undefined, schema: {} }); // { durable: true }
 * ```
 */
export function plainProperties(values: { readonly [name: string]: unknown }): Properties {
  const fit = ([, value]: [string, unknown]) =>
    typeof value === "boolean" ||
    Number.isFinite(value) ||
    (typeof value === "string" && value !== "" && value.length <= 255);
  return Object.fromEntries(Object.entries(values).filter(fit)) as Properties;
}

/**
 * What an adapter keeps for each broker, made when the broker is first seen.
 *
 * @example
 * ```ts
 * const registries = new PerBroker((broker) => registryOf(host, broker));
 * const queues = registries.at(host.broker("tinyqueue", "localhost:7000"));
 * ```
 */
export class PerBroker<P> {
  readonly #made = new Map<string, P>();
  readonly #make: (broker: string) => P;

  constructor(make: (broker: string) => P) {
    this.#make = make;
  }

  at(broker: string): P {
    const known = this.#made.get(broker);
    if (known !== undefined) return known;
    const made = this.#make(broker);
    this.#made.set(broker, made);
    return made;
  }

  [Symbol.iterator](): Iterator<P> {
    return this.#made.values();
  }
}
