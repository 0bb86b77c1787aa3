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

const objects = new GraphObjects<AmqpTarget>(() =>
  part<{ amqplibSource: typeof amqplibSource }>("adapters/graph/amqplib/index").amqplibSource(),
);

const OPENING = ["createChannel", "createConfirmChannel"];
/** Called for all that a connection sends or receives, heartbeats too. */
const TRAFFIC = ["sendMethod", "sendMessage", "recvFrame"];

/**
 * A connection is seen when it has opened a channel, which it knows by then. Of one that existed before, what is underneath is seen when
 * something is sent or received, and it knows the channels. What was declared through those is not shown, except for what messages
 * mention. amqplib does not keep the name of the virtual host: queues of all are shown as those of "/".
 */
export const amqplib: Library = {
  watch(exports, findings) {
    const { ChannelModel, CallbackModel } = exports as Exports;
    const model = ChannelModel ?? CallbackModel;
    if (model === undefined) return () => {};
    const see = (connection: object) => void objects.watch(connection as AmqpTarget, findings);
    return onSight(model.prototype, OPENING, findings, see, { after: true });
  },
  meet(exports, findings) {
    const { Connection } = exports as Exports;
    if (Connection === undefined) return () => {};
    return onSight(Connection.prototype, TRAFFIC, findings, (connection) => watchChannels(connection, findings));
  },
  inHeap: { classes: { ChannelModel: ["close", "createChannel", "createConfirmChannel"] } },
  recognize: (connection, findings) => objects.watch(connection as AmqpTarget, findings),
};

function watchChannels(connection: object, findings: Findings): void {
  const { channels } = connection as { readonly channels: readonly ({ readonly channel: object } | null)[] };
  for (const entry of channels) {
    if (entry !== null && entry !== undefined) objects.watch(entry.channel as AmqpTarget, findings);
  }
}
