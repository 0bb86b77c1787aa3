import type { AmqpTarget, amqplibSource } from "../../adapters/graph/amqplib/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { onSight } from "../sighting.ts";

interface Models {
  readonly ChannelModel?: { readonly prototype: object };
  readonly CallbackModel?: { readonly prototype: object };
}

const objects = new GraphObjects<AmqpTarget>(() =>
  part<{ amqplibSource: typeof amqplibSource }>("adapters/graph/amqplib/index").amqplibSource(),
);

/**
 * A connection is seen when it has opened its first channel, which it knows by then. amqplib does not keep the name of the virtual host,
 * so queues of all are shown as those of "/".
 */
export const amqplib: Library = {
  watch(exports, findings) {
    const { ChannelModel, CallbackModel } = exports as Models;
    const model = ChannelModel ?? CallbackModel;
    if (model === undefined) return () => {};
    const opening = ["createChannel", "createConfirmChannel"];
    return onSight(
      model.prototype,
      opening,
      findings,
      (connection) => void objects.watch(connection as AmqpTarget, findings),
      { after: true },
    );
  },
  inHeap: { classes: { ChannelModel: ["close", "createChannel", "createConfirmChannel"] } },
  recognize: (connection, findings) => objects.watch(connection as AmqpTarget, findings),
};
