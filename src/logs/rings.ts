import type { RecordFilter } from "./filter.ts";
import type { Raise } from "./raise.ts";
import { RecordRing } from "./ring.ts";
import type { Tail } from "./tail.ts";

/** How long records are kept for tails that come back. */
const LINGER_MS = 10_000;
/** The characters that all rings keep together, and one at most. */
const MAX_SIZE = 32 * 1024 * 1024;
const MAX_RING_SIZE = 4 * 1024 * 1024;

/** A ring with its readers. */
export interface SharedRing {
  readonly ring: RecordRing;
  readonly tails: Set<Tail>;
  /** The raise that makes records for this ring alone. */
  readonly hiding: Raise | undefined;
  /** Runs while it waits for a tail to come back. */
  lingering: NodeJS.Timeout | undefined;
}

/** The rings of all tails, one for each distinct set of conditions. */
export class Rings implements Iterable<SharedRing> {
  readonly #max: number;
  readonly #onChange: () => void;
  readonly #shared = new Map<string, SharedRing>();
  #hidings = 0;

  /**
   * @param max the greatest number of rings
   * @param onChange called when a ring has been added or has gone
   */
  constructor(max: number, onChange: () => void) {
    this.#max = max;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#shared.size;
  }

  [Symbol.iterator](): Iterator<SharedRing> {
    return this.#shared.values();
  }

  /** The ring for these conditions. One for which records are made is not shared: they end with its raise. */
  get(filter: RecordFilter, maxPerSecond: number, raise: Raise | undefined): SharedRing {
    const hiding = raise?.request.onlyHere ? raise : undefined;
    const key = JSON.stringify([filter.key, maxPerSecond, hiding && ++this.#hidings]);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      this.#makeRoom();
      shared = { ring: new RecordRing(filter, maxPerSecond), tails: new Set(), hiding, lingering: undefined };
      this.#shared.set(key, shared);
      this.#changed();
    }
    clearTimeout(shared.lingering);
    shared.lingering = undefined;
    return shared;
  }

  /** Removes a tail. The ring of the last one is kept for a while. */
  leave(shared: SharedRing, tail: Tail): void {
    shared.tails.delete(tail);
    if (shared.tails.size > 0) return;
    if (shared.hiding === undefined) shared.lingering = setTimeout(() => this.#forget(shared), LINGER_MS).unref();
    else this.#forget(shared);
  }

  /** Forgets all rings. */
  clear(): void {
    for (const { lingering } of this) clearTimeout(lingering);
    this.#shared.clear();
    this.#changed();
  }

  #forget(shared: SharedRing): void {
    for (const [key, other] of this.#shared) if (other === shared) this.#shared.delete(key);
    this.#changed();
  }

  /** Drops the ring that waits longest for a tail to come back, if there are too many. */
  #makeRoom(): void {
    if (this.#shared.size < this.#max) return;
    for (const [key, { lingering }] of this.#shared) {
      if (lingering === undefined) continue;
      clearTimeout(lingering);
      this.#shared.delete(key);
      return;
    }
  }

  #changed(): void {
    const maxSize = Math.min(MAX_RING_SIZE, MAX_SIZE / this.#shared.size);
    for (const { ring } of this) ring.maxSize = maxSize;
    this.#onChange();
  }
}
