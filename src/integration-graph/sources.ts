import type { NodeDeclaration } from "./declaration.ts";
import { checkConflict, declareLink, declareNode, withdraw } from "./declarers.ts";
import type { GraphElements } from "./elements.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import { checkedTopology, type GraphSource, readSource, type Topology } from "./source.ts";

/** How sources are read. */
export interface ReadingOptions {
  /** How long a source may take to answer, in milliseconds; 5,000 by default. */
  readonly sourceTimeoutMs?: number | undefined;
  /** Called each time a source could not be read. Default: a process warning with the name of the source, when it begins. */
  readonly onSourceError?: ((source: GraphSource, error: unknown) => void) | undefined;
}

/** The sources of a graph. What each of them declares is kept until it declares something else. */
export class Sources {
  readonly #elements: GraphElements;
  readonly #timeout: number;
  readonly #onError: ((source: GraphSource, error: unknown) => void) | undefined;
  readonly #sources = new Set<GraphSource>();

  constructor(elements: GraphElements, { sourceTimeoutMs = 5_000, onSourceError }: ReadingOptions) {
    this.#elements = elements;
    this.#timeout = sourceTimeoutMs;
    this.#onError = onSourceError;
  }

  add(source: GraphSource): Promise<boolean> {
    this.#sources.add(source);
    return this.#read(source);
  }

  remove(source: GraphSource): void {
    if (!this.#sources.delete(source)) return;
    this.#elements.outOfReach.delete(source);
    this.#apply(source, { nodes: [], links: [] });
  }

  async readAll(): Promise<void> {
    await Promise.all(Array.from(this.#sources, (source) => this.#read(source)));
  }

  async #read(source: GraphSource): Promise<boolean> {
    try {
      const topology = await readSource(source, this.#timeout);
      // It may have been taken away meanwhile.
      if (this.#sources.has(source)) this.#apply(source, topology);
      this.#elements.outOfReach.delete(source);
      return true;
    } catch (error) {
      const isKnown = this.#elements.outOfReach.has(source);
      if (this.#sources.has(source)) this.#elements.outOfReach.add(source);
      if (this.#onError !== undefined) this.#onError(source, error);
      else if (!isKnown) warn(source);
      return false;
    }
  }

  #apply(source: GraphSource, topology: Topology): void {
    // Everything is checked before anything is changed, so that an unfit topology leaves the source's part as it was.
    const checked = checkedTopology(topology);
    for (const declaration of checked.values()) checkConflict(this.#elements, declaration, source);

    const nodes = new Map<NodeDeclaration, GraphNode>();
    for (const [given, declaration] of checked) nodes.set(given, declareNode(this.#elements, declaration, source));
    const links = new Set<GraphLink>();
    for (const { from, type, to } of topology.links) {
      const link = declareLink(this.#elements, nodes.get(from)!, type, nodes.get(to)!, source);
      if (link !== undefined) links.add(link);
    }
    withdraw(this.#elements, source, { nodes: new Set(nodes.values()), links });
  }
}

function warn(source: GraphSource): void {
  process.emitWarning(`the integration graph could not read its source "${source.name}"; its part stays as it was`);
}
