import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { LinkDeclaration, Topology } from "../../../integration-graph/source.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import type { Queues } from "./queues.ts";
import { scheduleOf, schedulerOf } from "./schedulers.ts";

/** How many queues are shown. */
const MAX_QUEUES = 200;
const MAX_SCHEDULERS = 20;
const MAX_NAMES = 20;
/** How many answers to SCAN are read, and about how many keys each has. */
const MAX_BATCHES = 1_000;
const BATCH = 1_000;

/** The methods that the backend of BullMQ 6 and ioredis, which BullMQ 5 uses, have in common. */
interface Client {
  scanStream(options: { match: string; count: number }): AsyncIterable<readonly string[]> & { destroy(): void };
  zrange(key: string, start: number, end: number): Promise<string[]>;
  hmget(key: string, ...fields: string[]): Promise<readonly (string | null)[]>;
}

/**
 * Reads the queues that Redis has at a place, of all applications, with their schedulers and how many workers they have. Workers
 * of other processes are not nodes: their application is not known.
 */
export async function discover(target: object, place: Queues, host: GraphHost, signal: AbortSignal): Promise<Topology> {
  const client = await clientOf(target);
  if (client === undefined) return { nodes: [], links: [] };
  const names = await queueNames(client, place.prefix, signal);
  const workers = await workersOf(client);
  const nodes: NodeDeclaration[] = [];
  const links: LinkDeclaration[] = [];
  for (const name of names) {
    const shown = host.shownName(name);
    const found = workers.get(`${place.prefix}:${Buffer.from(name).toString("base64")}`);
    const workerNames = [...new Set(found?.names.map((worker) => host.shownName(worker)))].sort().slice(0, MAX_NAMES);
    const properties = { connectedWorkers: found?.count ?? 0, ...(workerNames.length > 0 && { workerNames }) };
    const queue = place.declaration("queue", shown, properties);
    nodes.push(queue);
    for (const scheduler of await schedulersOf(client, place, name, host)) {
      links.push({ from: scheduler, type: "output", to: queue });
    }
  }
  return { nodes, links };
}

async function queueNames(client: Client, prefix: string, signal: AbortSignal): Promise<readonly string[]> {
  const names = new Set<string>();
  const stream = client.scanStream({ match: `${prefix.replaceAll(/[\\*?[\]]/g, "\\$&")}:*:meta`, count: BATCH });
  let batches = 0;
  try {
    for await (const keys of stream) {
      for (const key of keys) {
        const name = key.slice(prefix.length + 1, -":meta".length);
        if (name !== "" && !name.includes(":")) names.add(name);
      }
      if (signal.aborted || names.size >= MAX_QUEUES || ++batches >= MAX_BATCHES) break;
    }
  } finally {
    stream.destroy();
  }
  return [...names].sort().slice(0, MAX_QUEUES);
}

/** The workers of each queue and their names, from the names that the library gives to their connections. */
async function workersOf(client: object) {
  const list = hasMethods(client, "clientList")
    ? await (client as { clientList(): Promise<unknown> }).clientList()
    : await (client as { client(command: string): Promise<unknown> }).client("LIST");
  const workers = new Map<string, { count: number; readonly names: string[] }>();
  for (const [, name] of String(list).matchAll(/ name=(\S+)/g)) {
    const [queue, worker] = divided(name!, ":w:");
    const known = workers.get(queue) ?? { count: 0, names: [] };
    known.count++;
    if (worker !== "") known.names.push(worker);
    workers.set(queue, known);
  }
  return workers;
}

function divided(text: string, by: string): readonly [before: string, after: string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + by.length)];
}

/** Does not use the library's own getter, which removes what it cannot read. */
async function schedulersOf(
  client: Client,
  place: Queues,
  name: string,
  host: GraphHost,
): Promise<readonly NodeDeclaration[]> {
  const key = `${place.prefix}:${name}:repeat`;
  const ids = await client.zrange(key, 0, MAX_SCHEDULERS - 1);
  const queue = { place, name: host.shownName(name) };
  return Promise.all(
    ids.map(async (id) => {
      const [jobName, pattern, every, tz] = await client.hmget(`${key}:${id}`, "name", "pattern", "every", "tz");
      return schedulerOf(queue, host.shownName(id), jobName, scheduleOf({ pattern, every, tz }));
    }),
  );
}

/** The connection that a queue, worker or flow producer sends its commands by. */
async function clientOf(target: object): Promise<Client | undefined> {
  const backend = hasMethods(target, "getBackend")
    ? Reflect.apply(Reflect.get(target, "getBackend"), target, [])
    : target;
  const client = await field(backend ?? field(target, "backend"), "client");
  if (typeof client !== "object" || client === null || field(client, "isCluster")) return undefined;
  return hasMethods(client, "scanStream", "zrange", "hmget") ? (client as Client) : undefined;
}
