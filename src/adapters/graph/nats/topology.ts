import { checkedName, type NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { LinkDeclaration, Topology } from "../../../integration-graph/source.ts";
import type { Kind, Subjects } from "./subjects.ts";

/** What is read of a broker, each component once. */
export class Collected {
  readonly #nodes = new Map<string, NodeDeclaration>();
  readonly #links = new Map<string, LinkDeclaration>();

  get topology(): Topology {
    return { nodes: [...this.#nodes.values()], links: [...this.#links.values()] };
  }

  /** Undefined for a name that the graph does not take: others made it up, and the rest is worth having. */
  channel(subjects: Subjects, kind: Kind, name: unknown, properties?: Properties): NodeDeclaration | undefined {
    return typeof name === "string"
      ? this.node(subjects.declaration(kind, subjects.shown(name), properties))
      : undefined;
  }

  node(declaration: NodeDeclaration): NodeDeclaration | undefined {
    try {
      checkedName(declaration.name);
    } catch {
      return undefined;
    }
    const key = declaration.key ?? declaration.name;
    const before = this.#nodes.get(key);
    if (before !== undefined && declaration.properties === undefined) return before;
    const node = { ...declaration, properties: { ...before?.properties, ...declaration.properties } };
    if (before !== undefined) Object.assign(before, node);
    else this.#nodes.set(key, node);
    return before ?? node;
  }

  link(from: NodeDeclaration | undefined, type: LinkType, to: NodeDeclaration | undefined): void {
    if (from === undefined || to === undefined || from === to) return;
    // No key holds a line break.
    this.#links.set([from.key, type, to.key].join("\n"), { from, type, to });
  }
}

/** Texts, numbers and flags only: what else a broker may say means nothing to an operator. */
export function plain(values: { readonly [name: string]: unknown }): Properties {
  const fit = ([, value]: [string, unknown]) =>
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value)) ||
    (typeof value === "string" && value !== "" && value.length <= 255);
  return Object.fromEntries(Object.entries(values).filter(fit)) as Properties;
}
