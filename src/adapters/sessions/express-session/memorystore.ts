import { maxAge } from "../../kit/connect-session/record.ts";
import { COOKIE_TIMES, type RecordTimes } from "../../kit/connect-session/record-reader.ts";

interface MemorystoreLike {
  readonly store: { peek(id: string): unknown };
  readonly serializer: { parse(text: unknown): unknown };
  readonly options: { readonly ttl?: unknown };
}

const ONE_DAY = 86_400_000;

/**
 * How sessions are read out of memorystore; undefined for any other store. Its `get` counts as a use, and a store with a
 * `max` drops what was used least recently: so it is peeked at. It drops what was not used for its `ttl`, else for the
 * cookie's maximum age, else for a day.
 */
export function memorystoreReading(store: object): { find: (id: string) => unknown; times: RecordTimes } | undefined {
  const { store: cache, serializer, options } = store as Partial<MemorystoreLike>;
  if (typeof cache?.peek !== "function" || typeof serializer?.parse !== "function") return undefined;
  const ttl = options?.ttl;
  return {
    find(id) {
      const text = cache.peek(id);
      return text === undefined ? undefined : serializer.parse(text);
    },
    times: { ...COOKIE_TIMES, maxAge: (record) => (typeof ttl === "number" ? ttl : (maxAge(record) ?? ONE_DAY)) },
  };
}
