import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH, type NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Names } from "./names.ts";

/** So many consumer groups are shown. */
const MAX_GROUPS = 200;
/** So many entries that were delivered and not acknowledged are remembered with the time that they came. */
const MAX_PENDING = 10_000;

/** A consumer group, as far as this application reads for it. */
export interface Group {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
  /** When entries were delivered that are not acknowledged, by their ids. */
  readonly pending: Map<string, number>;
  /** Whether a function is measured that handles its entries. Then acknowledgements tell nothing more. */
  measured: boolean;
}

/**
 * The consumer groups of one Redis that the application reads for. Redis says when an entry is delivered and when it is
 * acknowledged: what is between is the handling. Who handles it cannot be seen.
 */
export class Groups {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #groups = new Map<string, Map<string, Group>>();
  #count = 0;

  constructor(host: GraphHost, names: Names) {
    this.#host = host;
    this.#names = names;
  }

  /** The group of a stream, `<db>/<key>`. Undefined where there are too many. */
  of(stream: string, name: unknown): Group | undefined {
    const wanted = typeof name === "string" ? name : String(name);
    let groups = this.#groups.get(stream);
    const known = groups?.get(wanted);
    if (known !== undefined) return known;
    if (this.#count >= MAX_GROUPS) return undefined;
    const declaration = this.declarationOf(stream, wanted);
    const pending = new Map<string, number>();
    const channel = this.#names.hold("stream", stream, pending);
    const node = this.#host.declare(declaration);
    const input = this.#host.link(channel, "input", node);
    const group: Group = { node, input, pending, measured: false };
    if (groups === undefined) this.#groups.set(stream, (groups = new Map()));
    groups.set(wanted, group);
    this.#count++;
    return group;
  }

  /** The application destroyed a group. */
  remove(stream: string, name: unknown): void {
    const groups = this.#groups.get(stream);
    const group = groups?.get(String(name));
    if (groups === undefined || group === undefined) return;
    groups.delete(String(name));
    if (groups.size === 0) this.#groups.delete(stream);
    this.#count--;
    this.#names.release(group.pending);
    this.#host.withdraw(group.node);
  }

  /** A group as the graph is told of it. */
  declarationOf(stream: string, name: string): NodeDeclaration {
    const shown = this.#names.shown(stream);
    const group = this.#host.shownName(name);
    const at = shown.indexOf("/");
    const title = `${shown.slice(at + 1)}.${group}`.slice(0, MAX_NAME_LENGTH).toWellFormed();
    const db = shown.slice(0, at);
    return {
      name: title,
      pattern: "service_activator",
      componentType: "redis:consumer-group",
      properties: { group },
      key: endpointKey(this.#host.app, "service_activator", db === "0" ? title : `${db}/${title}`),
    };
  }

  /** Entries came that nobody has to acknowledge, or that wait for it. */
  delivered(group: Group, ids: readonly string[], acknowledged: boolean): void {
    const now = performance.now();
    if (acknowledged) {
      if (!group.measured) this.#host.handled(group.node, { start: now, end: now, count: ids.length }, group.input);
      return;
    }
    for (const id of ids) {
      if (!group.pending.has(id) && group.pending.size >= MAX_PENDING) forgetFirst(group.pending);
      group.pending.set(id, now);
    }
  }

  /** Redis says that `count` of these entries were not acknowledged before. */
  acknowledged(group: Group, ids: readonly string[], count: number, asked: number): void {
    const end = performance.now();
    let left = count;
    for (const id of ids) {
      const since = group.pending.get(id);
      group.pending.delete(id);
      if (since === undefined || left === 0 || group.measured) continue;
      left--;
      this.#host.handled(group.node, { start: since, end }, group.input);
    }
    // Somebody else read them, or this process before it was started again.
    if (left > 0 && !group.measured) this.#host.handled(group.node, { start: asked, end, count: left }, group.input);
  }
}

function forgetFirst(pending: Map<string, number>): void {
  for (const id of pending.keys()) {
    pending.delete(id);
    return;
  }
}
