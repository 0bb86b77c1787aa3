import { checkedDeclaration, mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import { patternConflict } from "./invalid.ts";
import { checkEnds } from "./link-ends.ts";
import type { LinkType } from "./link-type.ts";

/** A link between two nodes of the same topology, each named by the object that declares it. */
export interface LinkDeclaration {
  readonly from: NodeDeclaration;
  readonly type: LinkType;
  readonly to: NodeDeclaration;
}

/** All that a source declares at one moment. */
export interface Topology {
  readonly nodes: readonly NodeDeclaration[];
  readonly links: readonly LinkDeclaration[];
}

/**
 * A place where topology is declared apart from the builder: a broker, a framework's registry, a document.
 *
 * The graph reads it when it is added and at every rebuild. What a source no longer declares leaves the graph,
 * unless another source or the application declares it too. A source that throws, rejects, takes too long or declares something
 * invalid keeps the part that it had; what has no other declarer is marked as stale until the source is read again.
 */
export interface GraphSource {
  /** The source's name as operators see it. Never contains a credential. */
  readonly name: string;
  /** Reads the current topology. `signal` is aborted when the graph no longer waits. */
  read(signal: AbortSignal): Topology | Promise<Topology>;
}

/** Reads `source`, but waits no longer than `timeout` milliseconds. Rejects where there is no answer by then. */
export async function readSource(source: GraphSource, timeout: number): Promise<Topology> {
  const signal = AbortSignal.timeout(timeout);
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([source.read(signal), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The declarations of a topology, each with its checked copy; several of one component are merged.
 *
 * @throws ActuatorError that says what is invalid.
 */
export function checkedTopology({ nodes, links }: Topology): Map<NodeDeclaration, NodeDeclaration> {
  const ends = links.flatMap(({ from, to }) => [from, to]);
  const given = new Map([...nodes, ...ends].map((node) => [node, checkedDeclaration(node)] as const));
  const merged = new Map<string, NodeDeclaration>();
  for (const declaration of given.values()) {
    const { name, pattern } = declaration;
    const before = merged.get(identity(declaration));
    if (before !== undefined && before.pattern !== pattern)
      throw patternConflict(`"${name}" is declared with two patterns`);
    merged.set(identity(declaration), mergedDeclaration(before, declaration));
  }
  for (const { from, type, to } of links) checkEnds(from, type, to);
  return new Map(Array.from(given, ([node, declaration]) => [node, merged.get(identity(declaration))!]));
}

function identity({ key, name }: NodeDeclaration): string {
  return key === undefined ? `name ${name}` : `key ${key}`;
}
