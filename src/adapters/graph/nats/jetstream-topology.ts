import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import { field } from "../../kit/interception/field.ts";
import type { Subjects } from "./subjects.ts";
import { isMethod, type NatsJetStream } from "./target.ts";
import { type Collected, plain } from "./topology.ts";

/** The most streams that are read of one account, consumers of one stream, and subjects of one stream. */
const MAX_STREAMS = 500;
const MAX_CONSUMERS = 200;
const MAX_SUBJECTS = 50;
/** So many streams are asked for their consumers at a time. */
const AT_A_TIME = 20;

/** Reads the streams of an account, where they have their messages from, and who consumes them. */
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
  // What key-value buckets and object stores are made of.
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
    plain({
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

/** Only those that somebody named: the others live as long as their reader. */
function addConsumer(stream: string, from: NodeDeclaration, info: unknown, subjects: Subjects, to: Collected): void {
  const config = field(info, "config");
  const durable = field(config, "durable_name");
  if (typeof durable !== "string" || durable === "") return;
  const consumer = to.channel(
    subjects,
    "consumer",
    `${stream}.${durable}`,
    plain({
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
  if (!isMethod(jetStream, "jetstreamManager")) return jetStream;
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
