import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { Kind, Names } from "./names.ts";
import type { WatchedClient } from "./target.ts";

/** How many channels of each kind are shown. */
const MAX_CHANNELS = 200;
const MAX_GROUPS = 20;

const LISTINGS: readonly (readonly [kind: Kind, list: string, count: string])[] = [
  ["channel", "CHANNELS", "NUMSUB"],
  ["sharded-channel", "SHARDCHANNELS", "SHARDNUMSUB"],
];

/** Reads the channels that have subscribers in any application, and the consumer groups of the streams that are known. */
export async function discover(client: WatchedClient, names: Names): Promise<readonly NodeDeclaration[]> {
  const found: NodeDeclaration[] = [];
  for (const [kind, list, count] of LISTINGS) {
    const channels = await strings(optional(client.send("PUBSUB", list), kind));
    const shown = [...channels].sort().slice(0, MAX_CHANNELS);
    if (shown.length === 0) continue;
    const counted = await strings(client.send("PUBSUB", count, ...shown));
    // Names that are shown as one have the subscribers of all.
    const subscribers = new Map<string, { readonly declaration: NodeDeclaration; count: number }>();
    for (const [at, name] of shown.entries()) {
      const declaration = names.declarationOf(kind, name);
      const known = subscribers.get(declaration.key!) ?? { declaration, count: 0 };
      known.count += Number(counted[2 * at + 1]) || 0;
      subscribers.set(declaration.key!, known);
    }
    for (const { declaration, count: subscribed } of subscribers.values()) {
      found.push({ ...declaration, properties: { subscribers: subscribed } });
    }
  }
  const prefix = `${client.db()}/`;
  for (const stream of names.streams) {
    if (!stream.startsWith(prefix)) continue;
    const groups = await groupsOf(client, stream.slice(prefix.length));
    if (groups.length > 0) {
      found.push({
        ...names.declarationOf("stream", stream),
        properties: { consumerGroups: groups.map((group) => names.shown(group)) },
      });
    }
  }
  return found;
}

async function groupsOf(client: WatchedClient, key: string): Promise<readonly string[]> {
  // The stream may not exist any more.
  const reply = await optional(client.send("XINFO", "GROUPS", key), "stream");
  if (!Array.isArray(reply)) return [];
  return reply.slice(0, MAX_GROUPS).map(nameOf).sort();
}

/** The field "name" of a map, or of a list of fields and values. */
function nameOf(group: unknown): string {
  if (group instanceof Map) return String(group.get("name"));
  if (!Array.isArray(group)) return String(Reflect.get(group as object, "name"));
  return String(group[group.findIndex((field, at) => at % 2 === 0 && String(field) === "name") + 1]);
}

async function strings(reply: Promise<unknown>): Promise<readonly string[]> {
  const list = await reply;
  if (Array.isArray(list)) return list.map(String);
  // NUMSUB is a map in RESP 3.
  return typeof list === "object" && list !== null ? Object.entries(list).flat().map(String) : [];
}

/** Nothing if this Redis does not support or permit the command. Throws if it is unreachable. */
async function optional(reply: Promise<unknown>, kind: Kind): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    const refused = error instanceof Error && /^(ERR|NOPERM|WRONGTYPE)\b/.test(error.message);
    if (refused && kind !== "channel") return [];
    throw error;
  }
}
