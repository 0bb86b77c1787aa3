interface Writing {
  count: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

/** The writes that a store has not answered yet, by the session they write. */
export class Writes {
  readonly #byId = new Map<string, Writing>();

  /** A write of the session begins. Returns what to call when the store has answered. */
  begin(id: string): () => void {
    const writing = this.#byId.get(id) ?? newWriting();
    this.#byId.set(id, writing);
    writing.count++;
    let answered = false;
    return () => {
      if (answered) return;
      answered = true;
      if (--writing.count > 0) return;
      this.#byId.delete(id);
      writing.settle();
    };
  }

  /** Settles when no write of the session is under way any more; undefined: none is. */
  underWay(id: string): Promise<void> | undefined {
    return this.#byId.get(id)?.settled;
  }
}

function newWriting(): Writing {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { count: 0, settled: promise, settle: resolve };
}
