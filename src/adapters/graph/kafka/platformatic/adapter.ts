import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { checkOptions, text } from "../../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../../integration-graph/adapter.ts";
import { field, isObject } from "../../../kit/interception/field.ts";
import { requireVersion } from "../../../kit/library-version.ts";
import { Cluster } from "../kafkajs/cluster.ts";
import { SYSTEM } from "../kafkajs/topics.ts";
import { watchStreams } from "./streams.ts";

/** How the graph shows what @platformatic/kafka does. */
export interface PlatformaticKafkaOptions {
  /** The id of the cluster, where the application knows it. By default it is learnt from what the library asks for anyway. */
  readonly clusterId?: string | undefined;
}

interface Send {
  readonly start: number;
  /** The messages by topic. */
  readonly counts: ReadonlyMap<string, number>;
  /** Calls a function where the application called the library: the answer comes from a socket that belongs to nobody. */
  readonly inContext: (tell: () => void) => void;
}

/**
 * The topics, producers and consumer groups of an application that uses @platformatic/kafka: `flow.attach(platformaticKafka())`.
 * All of the process are seen, those made before too, through the library's diagnostics channels: no object is touched.
 *
 * - A group and a topic that it reads are one node, `<group>@<topic>`, as soon as the stream of `consume` is there and before any
 *   message; those of a stream made before are drawn with its next message. A stream that has ended goes at the next rebuild.
 * - A message counts when it is put into the application's stream, whatever becomes of it there, and without a duration: nobody
 *   tells when it was handled. It fails where a listener throws at once. What could not be deserialized does not count. What is
 *   sent while it is handled is not known to be sent by the group.
 * - Messages are sent when the library says so, and failed when it gives up, at a send that it took: what it refuses for unfit
 *   options is not told of.
 * - The cluster's id is its identity, known before a first message is sent. A producer that never reached one is apart.
 *
 * Throws where an option is unfit.
 */
export function platformaticKafka(options: PlatformaticKafkaOptions = {}): GraphAdapter {
  requireVersion({ subpath: "platformatic-kafka", library: "@platformatic/kafka", versions: "2" });
  checkOptions("platformaticKafka()", options, { clusterId: text });
  return { name: "platformatic-kafka", attach: (host) => watchClients(host, options) };
}

function watchClients(host: GraphHost, options: PlatformaticKafkaOptions): Detach {
  const watching = { live: true };
  const clusters = new WeakMap<object, Cluster>();
  const byId = new Map<string, Cluster>();
  const sends = new WeakMap<object, Send>();

  function clusterOf(client: object): Cluster {
    let cluster = clusters.get(client);
    if (cluster === undefined) {
      cluster = new Cluster(host, options, watching);
      clusters.set(client, cluster);
    }
    return cluster;
  }

  const consumed = watchStreams(host, (client) => clusterOf(client).groups);

  const listeners: { readonly [channel: string]: (context: unknown) => void } = {
    "base:metadata:asyncEnd": (context) => {
      const client = field(context, "client");
      const id = field(field(context, "result"), "id");
      if (!isObject(client) || typeof id !== "string") return;
      const own = clusterOf(client);
      own.identify(id);
      // The clients of one cluster share its groups: one that leaves must not take away what another reads.
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
          host.sent(topics.sentTo(topic), { start: send.start, end, failed, count });
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
    watching.live = false;
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
