import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field, isObject } from "../../../kit/interception/field.ts";
import type { Cluster } from "../kafkajs/cluster.ts";
import { SYSTEM } from "../kafkajs/topics.ts";

type Groups = Cluster["groups"];
type Reading = ReturnType<Groups["read"]>;

/** A stream of messages that a consumer gave to the application. Weak: it may be forgotten without being closed. */
interface Stream {
  readonly ref: WeakRef<object>;
  readonly groups: Groups;
  readonly group: string;
  readonly readings: Map<string, Reading>;
  /** What stands for it in the groups. */
  readonly reader: object;
}

/** Listeners by channel, for what consumers read and what their streams are given. */
export function watchStreams(host: GraphHost, groupsOf: (client: object) => Groups) {
  const streams = new WeakMap<object, Stream>();
  const open = new Set<Stream>();

  function streamOf(object: unknown, client: unknown): Stream | undefined {
    if (!isObject(object)) return undefined;
    const known = streams.get(object);
    const group = field(client, "groupId");
    if (known !== undefined || !isObject(client) || typeof group !== "string") return known;
    const stream = { ref: new WeakRef(object), groups: groupsOf(client), group, readings: new Map(), reader: {} };
    streams.set(object, stream);
    open.add(stream);
    return stream;
  }

  function read(stream: Stream, topic: string): Reading {
    let reading = stream.readings.get(topic);
    if (reading === undefined) {
      reading = stream.groups.read(stream.group, topic, stream.reader);
      stream.readings.set(topic, reading);
    }
    return reading;
  }

  function prune() {
    for (const stream of open) {
      const object = stream.ref.deref();
      if (object !== undefined && field(object, "destroyed") !== true) continue;
      open.delete(stream);
      stream.groups.leave(stream.reader);
      stream.groups.prune();
    }
    return { nodes: [], links: [] };
  }
  host.read({ name: "platformatic-kafka", read: prune });

  return {
    "consumer:consumes:asyncStart": (context: unknown) => {
      const stream = streamOf(field(context, "result"), field(context, "client"));
      const topics = field(field(context, "options"), "topics");
      if (stream === undefined || !Array.isArray(topics)) return;
      for (const topic of topics) if (typeof topic === "string") read(stream, topic);
    },
    "consumer:receives:end": (context: unknown) => {
      const message = field(context, "result");
      const topic = field(message, "topic");
      const stream = streamOf(field(context, "stream"), field(context, "client"));
      if (stream === undefined || typeof topic !== "string") return;
      const { node, input } = read(stream, topic);
      if (!host.counts(SYSTEM)) return;
      // The application may have asked for what cannot be deserialized as it is: that was handed over.
      const asked = field(field(field(message, "metadata"), "deserializationError"), "error");
      const error = field(context, "error");
      const now = performance.now();
      host.handled(node, { start: now, end: now, failed: error !== undefined && error !== asked }, input);
    },
  };
}
