import type { GraphLink, LinkType } from "./link.ts";
import { defaultComponentType, isPattern, type PatternType } from "./pattern.ts";
import { checkedProperties, type Properties } from "./properties.ts";
import { redact } from "./redact.ts";
import { ReceiveCounters, SendTimers } from "./statistics.ts";

/** A member of a chain: its name and its component type. */
export interface ChainHandler {
  readonly name: string;
  readonly type: string;
}

/** What a component is, before it is a node of a graph. */
export interface NodeDeclaration {
  readonly name: string;
  readonly pattern: PatternType;
  /** Lower-case, hyphenated words. Left out: follows from the pattern. */
  readonly componentType?: string | undefined;
  /** JSON values; never a payload, key, header or credential of a message. */
  readonly properties?: Properties | undefined;
  /** The members of a chain, in order. */
  readonly handlers?: readonly ChainHandler[] | undefined;
  /** The canonical key, where somebody knows a better one than that made of the name. See {@link nodeKey}. */
  readonly key?: string | undefined;
}

/** One component of a graph, with its statistics. The graph makes it; others read it and record into its statistics. */
export class GraphNode {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  pattern: PatternType;
  /** Whether it is a node of its graph: not before it was taken, not after it was removed. */
  attached = false;
  /** Whether statistics are taken. */
  observed = false;
  /** Whether a declaration names this node as its channel. Such a node does not age. */
  referenced = false;
  /** When it became a node, as a reading of `performance.now()`. */
  readonly since: number;
  /** What each declarer says of it. Nobody does where the node was only referred to, or seen at run time. */
  readonly declarations = new Map<object, NodeDeclaration>();
  readonly incoming = new Set<GraphLink>();
  readonly outgoing = new Set<GraphLink>();
  readonly sends = new SendTimers();
  readonly receives = new ReceiveCounters();
  /** The link that a message takes from here to a channel, found before. Emptied when links change. */
  readonly ways = new Map<GraphNode, GraphLink>();

  constructor(id: number, key: string, name: string, pattern: PatternType, since: number) {
    this.id = id;
    this.key = key;
    this.name = name;
    this.pattern = pattern;
    this.since = since;
  }

  get declared(): boolean {
    return this.declarations.size > 0;
  }

  /** The first that declares a component type names it. */
  get componentType(): string {
    for (const { componentType } of this.declarations.values()) if (componentType !== undefined) return componentType;
    return defaultComponentType(this.pattern);
  }

  get properties(): Properties {
    const declared = [...this.declarations.values()].map(({ properties }) => properties ?? {});
    return declared.length === 1 ? declared[0]! : Object.fromEntries(declared.flatMap(Object.entries));
  }

  get handlers(): readonly ChainHandler[] | undefined {
    for (const { handlers } of this.declarations.values()) if (handlers !== undefined) return handlers;
    return undefined;
  }

  /** The link from here to `to` of this type. */
  linkTo(type: LinkType, to: GraphNode): GraphLink | undefined {
    for (const link of this.outgoing) if (link.to === to && link.type === type) return link;
    return undefined;
  }

  /** When a message was last seen here, as a reading of `performance.now()`. */
  get lastSeen(): number {
    const { sends, receives } = this;
    return Math.max(
      this.since,
      sends.successes.last,
      sends.failures.last,
      receives.successes.last,
      receives.failures.last,
    );
  }
}

const COMPONENT_TYPE = /^[a-z][a-z0-9]*(?:[-:.][a-z0-9]+)*$/;
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** The longest name of a node, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 256;

/**
 * `name` as a graph may show it: credentials in URLs are cut out. Throws a TypeError where it is empty, longer than
 * 256 UTF-16 code units, or has control characters or lone surrogates.
 */
export function checkedName(name: unknown, what = "name"): string {
  if (typeof name !== "string" || name === "") throw new TypeError(`the ${what} must be a string that is not empty`);
  if (name.length > MAX_NAME_LENGTH) throw new TypeError(`the ${what} must not be longer than ${MAX_NAME_LENGTH}`);
  if (UNFIT.test(name) || !name.isWellFormed()) throw new TypeError(`the ${what} must not have control characters`);
  return redact(name);
}

/** A frozen, checked copy of a declaration. Throws a TypeError that says what is unfit. */
export function checkedDeclaration(declaration: NodeDeclaration): NodeDeclaration {
  const { pattern, componentType, properties, handlers, key } = declaration;
  const name = checkedName(declaration.name);
  if (!isPattern(pattern)) throw new TypeError(`"${name}" has no known pattern`);
  if (componentType !== undefined && !COMPONENT_TYPE.test(componentType)) {
    throw new TypeError(`the component type of "${name}" must be lower-case, hyphenated words`);
  }
  return Object.freeze({
    name,
    pattern,
    componentType,
    properties: properties === undefined ? undefined : checkedProperties(properties),
    handlers: handlers === undefined ? undefined : Object.freeze(handlers.map(checkedHandler)),
    key: key === undefined ? undefined : checkedName(key, "key"),
  });
}

function checkedHandler({ name, type }: ChainHandler): ChainHandler {
  return Object.freeze({ name: checkedName(name, "handler's name"), type: checkedName(type, "handler's type") });
}
