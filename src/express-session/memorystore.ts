interface MemorystoreLike {
  readonly store: { peek(id: string): unknown };
  readonly serializer: { parse(text: unknown): unknown };
}

/**
 * Reads a session out of memorystore without counting as a use of it, unlike its `get`: a store with a `max` drops what
 * was used least recently. undefined for any other store.
 */
export function memorystoreRecord(store: object): ((id: string) => unknown) | undefined {
  const { store: cache, serializer } = store as Partial<MemorystoreLike>;
  if (typeof cache?.peek !== "function" || typeof serializer?.parse !== "function") return undefined;
  return (id) => {
    const text = cache.peek(id);
    return text === undefined ? undefined : serializer.parse(text);
  };
}
