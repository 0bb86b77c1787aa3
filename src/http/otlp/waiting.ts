/** What waits for a span that is still to come. */
interface Waiting<Item> {
  readonly item: Item;
  readonly since: number;
}

export interface WaitingLimits {
  readonly maxItems: number;
  /** In milliseconds. */
  readonly maxWait: number;
}

/** What waits for spans by their ids, each for a time; then it goes on without. Only a timer that is needed runs. */
export class WaitingRoom<Item> {
  readonly #limits: WaitingLimits;
  readonly #giveUp: (item: Item) => void;
  readonly #items = new Map<string, Waiting<Item>[]>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: WaitingLimits, giveUp: (item: Item) => void) {
    this.#limits = limits;
    this.#giveUp = giveUp;
  }

  add(id: string, item: Item): void {
    if (this.#size >= this.#limits.maxItems) {
      this.#giveUp(item);
      return;
    }
    const waiting = { item, since: performance.now() };
    const list = this.#items.get(id);
    if (list === undefined) this.#items.set(id, [waiting]);
    else list.push(waiting);
    this.#size++;
    this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.maxWait).unref();
  }

  /** What waited for a span that has come. */
  take(id: string): readonly Item[] {
    const list = this.#items.get(id);
    if (list === undefined) return NOTHING;
    this.#items.delete(id);
    this.#size -= list.length;
    return list.map(({ item }) => item);
  }

  /** Nothing waits any more, and nothing goes on. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#items.clear();
    this.#size = 0;
  }

  #sweep(): void {
    this.#timer = undefined;
    const oldest = performance.now() - this.#limits.maxWait;
    let next = Number.POSITIVE_INFINITY;
    for (const [id, list] of this.#items) {
      if (list[0]!.since > oldest) next = Math.min(next, list[0]!.since - oldest);
      else for (const item of this.take(id)) this.#giveUp(item);
    }
    if (this.#size > 0) this.#timer ??= setTimeout(() => this.#sweep(), Math.max(next, 10)).unref();
  }
}

const NOTHING: readonly never[] = [];
