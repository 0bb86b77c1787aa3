import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { shortened } from "../../../integration-graph/declaration.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Receiver } from "../../kit/messaging/delivery.ts";
import type { Names } from "./names.ts";

/** How many consumer groups are shown. */
const MAX_GROUPS = 200;
/** How many delivered entries that are not acknowledged are remembered. */
const MAX_PENDING = 10_000;

/** A consumer group that this application reads for. */
export interface Group extends Receiver {
  /** The times at which entries that are not acknowledged were delivered, by their ids. */
  readonly pending: Map<string, number>;
  /** Whether the function that handles its entries is measured, so that acknowledgements do not count. */
  measured: boolean;
}

/**
 * The consumer groups of one Redis that the application reads for. An entry is handled from its delivery to its
 * acknowledgement. Which function handles it is not known.
 */
export class Groups {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #groups = new Map<string, Map<string, Group>>();
  /** Groups that were destroyed. Their streams stay until the graph is rebuilt. */
  readonly #destroyed: { readonly stream: string; readonly group: Group }[] = [];
  #count = 0;

  constructor(host: GraphHost, names: Names) {
    this.#host = host;
    this.#names = names;
  }

  /** The group of a stream, `<db>/<key>`. Undefined if there are too many. */
  of(stream: string, name: unknown): Group | undefined {
    const wanted = typeof name === "string" ? name : String(name);
    let groups = this.#groups.get(stream);
    const known = groups?.get(wanted);
    if (known !== undefined) return known;
    if (this.#count >= MAX_GROUPS) return undefined;
    const pending = new Map<string, number>();
    const channel = this.#names.hold("stream", stream, pending);
    const node = this.#host.declare(this.#declaration(stream, wanted));
    const input = this.#host.link(channel.node, "input", node);
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
    this.#host.withdraw(group.node);
    this.#destroyed.push({ stream, group });
  }

  prune(): void {
    for (const { stream, group } of this.#destroyed.splice(0)) {
      this.#names.find("stream", stream)?.release(group.pending);
    }
  }

  #declaration(stream: string, name: string) {
    const shown = this.#names.shown(stream);
    const group = this.#host.shownName(name);
    const at = shown.indexOf("/");
    const title = shortened(`${shown.slice(at + 1)}.${group}`);
    const db = shown.slice(0, at);
    return {
      name: title,
      pattern: "service_activator",
      componentType: "redis:consumer-group",
      properties: { group },
      key: endpointKey(this.#host.app, "service_activator", db === "0" ? title : `${db}/${title}`),
    } as const;
  }

  /** Entries were delivered; `acknowledged` if that need not be done. */
  delivered(group: Group, ids: readonly string[], acknowledged: boolean): void {
    const now = performance.now();
    if (acknowledged) {
      if (!group.measured) this.#host.handled(group.node, { start: now, end: now, count: ids.length }, group.input);
      return;
    }
    for (const id of ids) {
      if (!group.pending.has(id) && group.pending.size >= MAX_PENDING) {
        const [oldest] = group.pending.keys();
        group.pending.delete(oldest!);
      }
      group.pending.set(id, now);
    }
  }

  /** `count` of these entries were not acknowledged before. */
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
    // Another process read them, or this one before it was restarted.
    if (left > 0 && !group.measured) this.#host.handled(group.node, { start: asked, end, count: left }, group.input);
  }
}
