/**
 * The ids of the entries that XREAD and XREADGROUP gave, by stream: pairs of RESP 2, or a map of RESP 3, which some clients give as
 * a flat list. A name or an id may be bytes.
 */
export function* entriesOf(reply: unknown): Generator<readonly [stream: string, ids: readonly string[]]> {
  for (const [stream, entries] of streamsOf(reply)) {
    if (!Array.isArray(entries)) continue;
    yield [String(stream), entries.filter(Array.isArray).map(([id]) => String(id))];
  }
}

function streamsOf(reply: unknown): Iterable<readonly [stream: unknown, entries: unknown]> {
  if (typeof reply !== "object" || reply === null) return [];
  if (reply instanceof Map) return reply;
  if (!Array.isArray(reply)) return Object.entries(reply);
  if (Array.isArray(reply[0])) return reply.filter((pair) => Array.isArray(pair) && pair.length === 2) as never;
  return reply.flatMap((stream, index) => (index % 2 === 0 ? [[stream, reply[index + 1]] as const] : []));
}
