import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../interception/field.ts";
import { addressOf, redisIdentity } from "./redis-address.ts";

// Several adapters show these, and must agree on their keys.

interface Details {
  /** Whether the application takes messages out one by one. */
  readonly polled?: boolean | undefined;
  readonly properties?: Properties | undefined;
}

/** A queue or exchange of RabbitMQ. */
export function rabbitmqDestination(
  kind: "queue" | "exchange",
  name: string,
  { broker, vhost }: { readonly broker: string; readonly vhost: string },
  { polled = false, properties }: Details = {},
): NodeDeclaration {
  const pattern = kind === "exchange" ? "publish_subscribe_channel" : polled ? "pollable_channel" : "message_channel";
  const key = channelKey("rabbitmq", broker, kind, `${vhost}/${name}`);
  return { name, pattern, componentType: `amqp:${kind}`, properties, key };
}

/** The prefix of BullMQ's keys unless the application chooses another. */
export const DEFAULT_BULLMQ_PREFIX = "bull";

/** Where a queue of BullMQ is: the identity of a database in Redis, and the prefix of its keys. */
export interface BullmqPlace {
  readonly broker: string;
  readonly prefix: string;
}

/** Where the queue of a queue or worker of BullMQ is, and those of a flow producer unless a flow names another prefix. */
export function bullmqPlace(target: object, host: GraphHost): BullmqPlace {
  const options = field(target, "opts");
  const prefix = field(options, "prefix");
  return {
    broker: redisIdentity(host, "bullmq", addressOf(field(options, "connection")), true),
    prefix: typeof prefix === "string" && prefix !== "" ? prefix : DEFAULT_BULLMQ_PREFIX,
  };
}

/** A queue of BullMQ. */
export function bullmqQueue(
  name: string,
  { broker, prefix }: BullmqPlace,
  { polled = false, properties }: Details = {},
): NodeDeclaration {
  return {
    name,
    pattern: polled ? "pollable_channel" : "message_channel",
    componentType: "bullmq:queue",
    properties: prefix === DEFAULT_BULLMQ_PREFIX ? properties : { prefix, ...properties },
    key: channelKey("bullmq", broker, "queue", `${prefix}:${name}`),
  };
}
