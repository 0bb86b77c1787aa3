import type { AmqpTarget, amqplibSource } from "../../adapters/graph/amqplib/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Findings, Library } from "../library.ts";
import { part } from "../parts.ts";
import { onSight } from "../sighting.ts";

interface Class {
  readonly prototype: object;
}

/** What `channel_model.js`, `callback_model.js` and `connection.js` export. */
interface Exports {
  readonly ChannelModel?: Class;
  readonly CallbackModel?: Class;
  readonly Connection?: Class;
}

/** The virtual hosts of connections, by the object underneath: amqplib only mentions them when it opens a connection. */
const vhosts = new WeakMap<object, string>();
const byVhost = new Map<string, GraphObjects<AmqpTarget>>();

/** @param target a channel, or a connection of either interface */
function watch(target: object, findings: Findings): boolean {
  const vhost = vhosts.get((target as { readonly connection: object }).connection) ?? "/";
  let objects = byVhost.get(vhost);
  if (objects === undefined) {
    objects = new GraphObjects(() =>
      part<{ amqplibSource: typeof amqplibSource }>("adapters/graph/amqplib/index").amqplibSource([], { vhost }),
    );
    byVhost.set(vhost, objects);
  }
  return objects.watch(target as AmqpTarget, findings);
}

const OPENING = ["createChannel", "createConfirmChannel"];
/** Called for all that a connection sends or receives, heartbeats too. */
const TRAFFIC = ["sendMethod", "sendMessage", "recvFrame"];

/**
 * A connection is seen when it has opened a channel, which it knows by then. Of one that existed before, what is underneath is seen when
 * something is sent or received, and it knows the channels. What was declared through those is not shown, except for what messages
 * mention, and as if it were in the virtual host "/".
 */
export const amqplib: Library = {
  watch(exports, findings) {
    const { ChannelModel, CallbackModel, Connection } = exports as Exports;
    if (Connection !== undefined) return onSight(Connection.prototype, "open", findings, noteVhost);
    const model = ChannelModel ?? CallbackModel;
    if (model === undefined) return () => {};
    return onSight(model.prototype, OPENING, findings, (each) => void watch(each, findings), { after: true });
  },
  meet(exports, findings) {
    const { Connection } = exports as Exports;
    if (Connection === undefined) return () => {};
    return onSight(Connection.prototype, TRAFFIC, findings, (connection) => watchChannels(connection, findings));
  },
  inHeap: { classes: { ChannelModel: ["close", "createChannel", "createConfirmChannel"] } },
  recognize: watch,
};

function noteVhost(connection: object, [fields]: readonly unknown[]): void {
  const { virtualHost } = fields as { readonly virtualHost?: unknown };
  if (typeof virtualHost === "string") vhosts.set(connection, virtualHost);
}

function watchChannels(connection: object, findings: Findings): void {
  const { channels } = connection as {
    readonly channels: readonly ({ readonly channel: object } | null | undefined)[];
  };
  for (const entry of channels) {
    // The first stands for the connection itself.
    if (entry != null && "connection" in entry.channel) watch(entry.channel, findings);
  }
}
