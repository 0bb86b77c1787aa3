import { checkedName, type NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { LinkDeclaration, Topology } from "../../../integration-graph/source.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import { plainProperties } from "../../kit/messaging/destinations.ts";
import type { Place } from "./connection.ts";
import type { Kind, Subjects } from "./subjects.ts";
import { type NatsConnection, type NatsJetStream, subscriptionsOf } from "./target.ts";

/** What is read from a broker, each component once. */
export class Collected {
  readonly #nodes = new Map<string, NodeDeclaration>();
  readonly #links = new Map<string, LinkDeclaration>();

  get topology(): Topology {
    return { nodes: [...this.#nodes.values()], links: [...this.#links.values()] };
  }

  /** Undefined for a name that a graph refuses: the rest is still worth showing. */
  channel(subjects: Subjects, kind: Kind, name: unknown, properties?: Properties): NodeDeclaration | undefined {
    return typeof name === "string"
      ? this.node(subjects.declaration(kind, subjects.shown(name), properties))
      : undefined;
  }

  node(declaration: NodeDeclaration): NodeDeclaration | undefined {
    try {
      checkedName(declaration.name);
    } catch {
      return undefined;
    }
    const key = declaration.key ?? declaration.name;
    const before = this.#nodes.get(key);
    if (before !== undefined && declaration.properties === undefined) return before;
    const node = { ...declaration, properties: { ...before?.properties, ...declaration.properties } };
    if (before !== undefined) Object.assign(before, node);
    else this.#nodes.set(key, node);
    return before ?? node;
  }

  link(from: NodeDeclaration | undefined, type: LinkType, to: NodeDeclaration | undefined): void {
    if (from === undefined || to === undefined || from === to) return;
    // No key contains a line break.
    this.#links.set([from.key, type, to.key].join("\n"), { from, type, to });
  }
}

/** The most streams that are read of one account, consumers of one stream, and subjects of one stream. */
const MAX_STREAMS = 500;
const MAX_CONSUMERS = 200;
const MAX_SUBJECTS = 50;
/** How many streams are asked for their consumers at the same time. */
const AT_A_TIME = 20;

/** Reads the streams of an account, their sources and their consumers. */
export async function readJetStream(
  jetStream: NatsJetStream,
  subjects: Subjects,
  to: Collected,
  signal: AbortSignal,
): Promise<void> {
  const manager = await managerOf(jetStream);
  const infos = await listed(manager, "streams", [], MAX_STREAMS, signal);
  for (let at = 0; at < infos.length; at += AT_A_TIME) {
    await Promise.all(infos.slice(at, at + AT_A_TIME).map((info) => readStream(manager, info, subjects, to, signal)));
  }
}

async function readStream(
  manager: NatsJetStream,
  info: unknown,
  subjects: Subjects,
  to: Collected,
  signal: AbortSignal,
): Promise<void> {
  const name = field(field(info, "config"), "name");
  // Key-value buckets and object stores are streams, too.
  if (typeof name !== "string" || /^(KV|OBJ)_/.test(name)) return;
  const stream = addStream(name, info, subjects, to);
  if (stream === undefined) return;
  for (const consumer of await listed(manager, "consumers", [name], MAX_CONSUMERS, signal)) {
    addConsumer(name, stream, consumer, subjects, to);
  }
}

function addStream(name: string, info: unknown, subjects: Subjects, to: Collected): NodeDeclaration | undefined {
  const [config, state] = [field(info, "config"), field(info, "state")];
  const stream = to.channel(
    subjects,
    "stream",
    name,
    plainProperties({
      storage: field(config, "storage"),
      retention: field(config, "retention"),
      replicas: field(config, "num_replicas"),
      maxMessages: limit(field(config, "max_msgs")),
      maxBytes: limit(field(config, "max_bytes")),
      messages: field(state, "messages"),
    }),
  );
  for (const subject of list(field(config, "subjects")).slice(0, MAX_SUBJECTS)) {
    to.link(to.channel(subjects, "subject", subject), "route", stream);
  }
  for (const source of [field(config, "mirror"), ...list(field(config, "sources")).slice(0, MAX_SUBJECTS)]) {
    to.link(to.channel(subjects, "stream", field(source, "name")), "route", stream);
  }
  return stream;
}

/** Only durable consumers: the others live as long as their reader. */
function addConsumer(stream: string, from: NodeDeclaration, info: unknown, subjects: Subjects, to: Collected): void {
  const config = field(info, "config");
  const durable = field(config, "durable_name");
  if (typeof durable !== "string" || durable === "") return;
  const consumer = to.channel(
    subjects,
    "consumer",
    `${stream}.${durable}`,
    plainProperties({
      filterSubject: field(config, "filter_subject") ?? list(field(config, "filter_subjects")).slice(0, 10).join(" "),
      ackPolicy: field(config, "ack_policy"),
      maxDeliver: limit(field(config, "max_deliver")),
      pending: field(info, "num_pending"),
      ackPending: field(info, "num_ack_pending"),
      redelivered: field(info, "num_redelivered"),
    }),
  );
  to.link(from, "route", consumer);
  const delivery = field(config, "deliver_subject");
  if (typeof delivery === "string" && !delivery.startsWith("_INBOX.")) {
    to.link(consumer, "route", to.channel(subjects, "subject", delivery));
  }
}

async function managerOf(jetStream: NatsJetStream): Promise<NatsJetStream> {
  if (!hasMethods(jetStream, "jetstreamManager")) return jetStream;
  return Reflect.apply(Reflect.get(jetStream, "jetstreamManager"), jetStream, [false]);
}

async function listed(
  manager: NatsJetStream,
  what: "streams" | "consumers",
  args: readonly unknown[],
  most: number,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const api = manager[what];
  const found: unknown[] = [];
  for await (const info of Reflect.apply(Reflect.get(api, "list"), api, args) as AsyncIterable<unknown>) {
    signal.throwIfAborted();
    found.push(info);
    if (found.length >= most) break;
  }
  return found;
}

function limit(value: unknown): unknown {
  return typeof value === "number" && value > 0 ? value : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

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

/** Discovers the services of a broker and adds their endpoints. */
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
    const properties = plainProperties({
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

/** Yields nothing if there is no service. */
async function* asked(connection: NatsConnection): AsyncIterable<unknown> {
  try {
    const asking = Reflect.get(connection, "requestMany") as (...args: unknown[]) => Promise<AsyncIterable<unknown>>;
    yield* await Reflect.apply(asking, connection, ["$SRV.INFO", "", { ...WAITING }]);
  } catch (error) {
    if (!hasNoResponders(error)) throw error;
  }
}

function hasNoResponders(error: unknown): boolean {
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
