import { endpointKey } from "../../../integration-graph/node-id.ts";
import { field } from "../../kit/interception/field.ts";
import type { Place } from "./connection.ts";
import { type NatsConnection, subscriptionsOf } from "./target.ts";
import { type Collected, plain } from "./topology.ts";

/** The most answers that are read, and endpoints of one service. */
const MAX_ANSWERS = 1_000;
const MAX_ENDPOINTS = 100;
/** The longest answer that is read, in bytes. */
const MAX_ANSWER = 65_536;
/** How long to wait for services, in milliseconds: the slowest of them, and after the last that answered. */
const WAITING = { strategy: "stall", maxWait: 1_000 } as const;

interface Endpoint {
  readonly service: string;
  readonly name: string;
  readonly subject: string;
  readonly queue: string;
  readonly version: unknown;
  readonly ids: Set<string>;
}

/** Asks the services of a broker what they are, and takes up their endpoints. */
export async function readServices(
  connection: NatsConnection,
  { subjects, own }: Place,
  to: Collected,
  signal: AbortSignal,
): Promise<void> {
  const ours = ownServices(connection);
  for (const endpoint of await endpointsOf(connection, signal)) {
    const { service, name, subject, queue, ids } = endpoint;
    const known = [...ids].some((id) => ours.has(id)) ? own.get(`${subject} ${queue}`) : undefined;
    const properties = plain({
      service,
      version: endpoint.version,
      endpoint: name,
      queueGroup: queue,
      instances: ids.size,
    });
    const label = known?.name ?? `${service}.${name}`;
    const key = known?.key ?? endpointKey(service, "service_activator", label);
    const componentType = known === undefined ? "nats:service" : "nats:subscriber";
    const node = to.node({ name: label, pattern: "service_activator", componentType, properties, key });
    to.link(to.channel(subjects, "subject", subject), "input", node);
  }
}

/** One for each endpoint of each service, whatever the number of its instances. */
async function endpointsOf(connection: NatsConnection, signal: AbortSignal): Promise<Iterable<Endpoint>> {
  const found = new Map<string, Endpoint>();
  let answers = 0;
  for await (const answer of await asked(connection)) {
    signal.throwIfAborted();
    if (++answers > MAX_ANSWERS) break;
    const info = parsed(answer);
    const [service, id, endpoints] = [field(info, "name"), field(info, "id"), field(info, "endpoints")];
    if (typeof service !== "string" || typeof id !== "string" || !Array.isArray(endpoints)) continue;
    for (const each of endpoints.slice(0, MAX_ENDPOINTS)) {
      const [name, subject, queue] = [field(each, "name"), field(each, "subject"), field(each, "queue_group")];
      if (typeof name !== "string" || typeof subject !== "string") continue;
      const key = `${service} ${name} ${subject}`;
      const about = { service, name, subject, queue: String(queue ?? ""), version: field(info, "version") };
      const endpoint = found.get(key) ?? { ...about, ids: new Set<string>() };
      endpoint.ids.add(id);
      found.set(key, endpoint);
    }
  }
  return found.values();
}

/** No service at all is an answer too. */
async function* asked(connection: NatsConnection): AsyncIterable<unknown> {
  try {
    const asking = Reflect.get(connection, "requestMany") as (...args: unknown[]) => Promise<AsyncIterable<unknown>>;
    yield* await Reflect.apply(asking, connection, ["$SRV.INFO", "", { ...WAITING }]);
  } catch (error) {
    if (!isNobody(error)) throw error;
  }
}

function isNobody(error: unknown): boolean {
  return [error, field(error, "cause")].some(
    (each) => String(field(each, "name")).startsWith("NoResponders") || field(each, "code") === "503",
  );
}

function parsed(answer: unknown): unknown {
  const data = field(answer, "data");
  if (!(data instanceof Uint8Array) || data.length > MAX_ANSWER) return undefined;
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return undefined;
  }
}

/** The ids of the services that run on a connection: each answers to a subject of its own. */
function ownServices(connection: NatsConnection): ReadonlySet<string> {
  const ids = subscriptionsOf(connection).map(({ subject }) => /^\$SRV\.INFO\.[^.]+\.([^.]+)$/.exec(subject)?.[1]);
  return new Set(ids.filter((id) => id !== undefined));
}
