import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { checkOptions, text } from "../../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../../integration-graph/adapter.ts";
import { field, isObject } from "../../../kit/interception/field.ts";
import type { Live } from "../../../kit/interception/replaced-method.ts";
import { requireVersion } from "../../../kit/library-version.ts";
import { Cluster, type Reading, SYSTEM } from "../cluster.ts";

/** Options of {@link platformaticKafkaSource}. */
export interface PlatformaticKafkaOptions {
  /** The id of the cluster, if the application knows it. By default, it is read from the library's own requests. */
  readonly clusterId?: string | undefined;
}

interface Send {
  readonly start: number;
  /** The messages by topic. */
  readonly counts: ReadonlyMap<string, number>;
  /** Calls a function in the context in which the application called the library; the answer comes in another. */
  readonly inContext: (tell: () => void) => void;
}

/**
 * Shows the topics, producers and consumer groups of an application that uses @platformatic/kafka. It sees all clients of the
 * process, also those made before, through the library's diagnostics channels, and replaces no method.
 *
 * - A group and a topic that it reads are one node, `<group>@<topic>`, as soon as the stream of `consume` is there and before any
 *   message; those of a stream made before are drawn with its next message. A stream that has ended goes at the next rebuild.
 * - A message counts when it is put into the application's stream, and without a duration, since the library does
 *   not report when it was handled. It fails if a listener throws at once. What could not be deserialized does not count. What is
 *   sent while it is handled is not known to be sent by the group.
 * - Messages are sent when the library says so, and failed when it gives up, at a send that it accepted: what it refuses for invalid
 *   options is not reported.
 * - The cluster's id is its identity, known before a first message is sent. A producer that never reached one is apart.
 *
 * @example
 * ```ts
 * flow.attach(platformaticKafkaSource());
 * const producer = new Producer({ clientId: "shop", bootstrapBrokers: ["localhost:9092"] });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if an option is invalid.
 */
export function platformaticKafkaSource(options: PlatformaticKafkaOptions = {}): GraphAdapter {
  requireVersion({ subpath: "platformatic-kafka", library: "@platformatic/kafka", versions: "2" });
  checkOptions("platformaticKafkaSource", options, { clusterId: text });
  return { name: "platformatic-kafka", watchesObjects: true, attach: (host) => watchClients(host, options) };
}

function watchClients(host: GraphHost, options: PlatformaticKafkaOptions): Detach {
  const live: Live = { live: true };
  const clusters = new WeakMap<object, Cluster>();
  const byId = new Map<string, Cluster>();
  const sends = new WeakMap<object, Send>();

  function clusterOf(client: object): Cluster {
    let cluster = clusters.get(client);
    if (cluster === undefined) {
      cluster = new Cluster(host, options, live);
      clusters.set(client, cluster);
    }
    return cluster;
  }

  const consumed = watchStreams(host, (client) => clusterOf(client));

  const listeners: { readonly [channel: string]: (context: unknown) => void } = {
    "base:metadata:asyncEnd": (context) => {
      const client = field(context, "client");
      const id = field(field(context, "result"), "id");
      if (!isObject(client) || typeof id !== "string") return;
      const own = clusterOf(client);
      own.identify(id);
      // The clients of one cluster share its groups: one that leaves must not remove what another reads.
      const known = byId.get(id);
      if (known === undefined) byId.set(id, own);
      else clusters.set(client, known);
    },
    "producer:sends:start": (context) => {
      if (!isObject(context) || !host.counts(SYSTEM)) return;
      const counts = countsOf(field(field(context, "options"), "messages"));
      sends.set(context, { start: performance.now(), counts, inContext: AsyncLocalStorage.snapshot() });
    },
    "producer:sends:asyncStart": (context) => {
      const client = field(context, "client");
      const send = isObject(context) ? sends.get(context) : undefined;
      if (send === undefined || !isObject(client)) return;
      const { topics } = clusterOf(client);
      const [end, failed] = [performance.now(), Boolean(field(context, "error"))];
      send.inContext(() => {
        for (const [topic, count] of send.counts) {
          host.sent(topics.sentTo("topic", topic), { start: send.start, end, failed, count });
        }
      });
    },
    ...consumed,
  };
  const named = Object.entries(listeners).map(([name, listen]) => ({
    name: `tracing:plt:kafka:${name}`,
    listen: (context: unknown) => listen(context),
  }));
  for (const { name, listen } of named) channel(name).subscribe(listen);
  return () => {
    live.live = false;
    for (const { name, listen } of named) channel(name).unsubscribe(listen);
  };
}

function countsOf(messages: unknown): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const message of Array.isArray(messages) ? messages : []) {
    const topic = field(message, "topic");
    if (typeof topic === "string" && topic !== "") counts.set(topic, (counts.get(topic) ?? 0) + 1);
  }
  return counts;
}

/** A stream of messages that a consumer gave to the application. Weak: it may be dropped without being closed. */
interface Stream {
  readonly ref: WeakRef<object>;
  readonly cluster: Cluster;
  readonly group: string;
  readonly readings: Map<string, Reading>;
  /** Stands for it in the groups. */
  readonly reader: object;
}

/** Listeners by channel, to what consumers read and what is put into their streams. */
function watchStreams(host: GraphHost, clusterOf: (client: object) => Cluster) {
  const streams = new WeakMap<object, Stream>();
  const open = new Set<Stream>();

  function streamOf(object: unknown, client: unknown): Stream | undefined {
    if (!isObject(object)) return undefined;
    const known = streams.get(object);
    const group = field(client, "groupId");
    if (known !== undefined || !isObject(client) || typeof group !== "string") return known;
    const stream = { ref: new WeakRef(object), cluster: clusterOf(client), group, readings: new Map(), reader: {} };
    streams.set(object, stream);
    open.add(stream);
    return stream;
  }

  function read(stream: Stream, topic: string): Reading {
    let reading = stream.readings.get(topic);
    if (reading === undefined) {
      reading = stream.cluster.read(stream.group, topic, stream.reader);
      stream.readings.set(topic, reading);
    }
    return reading;
  }

  function prune() {
    for (const stream of open) {
      const object = stream.ref.deref();
      if (object !== undefined && field(object, "destroyed") !== true) continue;
      open.delete(stream);
      stream.cluster.groups.endAll(stream.reader);
      stream.cluster.groups.prune();
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
      // The application may have asked for what cannot be deserialized to be passed on as it is.
      const asked = field(field(field(message, "metadata"), "deserializationError"), "error");
      const error = field(context, "error");
      const now = performance.now();
      host.handled(node, { start: now, end: now, failed: error !== undefined && error !== asked }, input);
    },
  };
}
