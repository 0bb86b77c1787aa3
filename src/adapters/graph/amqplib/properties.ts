import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";

/** The options of amqplib and the arguments of the broker that mean the same. */
const QUEUE_ARGUMENTS = {
  messageTtl: "x-message-ttl",
  expires: "x-expires",
  maxLength: "x-max-length",
  maxPriority: "x-max-priority",
  overflow: "x-overflow",
  deadLetterExchange: "x-dead-letter-exchange",
  deadLetterRoutingKey: "x-dead-letter-routing-key",
  queueType: "x-queue-type",
  singleActiveConsumer: "x-single-active-consumer",
} as const;

/** What an operator is told of a queue. */
export function queueProperties(options: unknown): Properties {
  const given = Object.keys(QUEUE_ARGUMENTS).map((name) => [name, queueOption(options, name as QueueOption)]);
  return plain({
    durable: field(options, "durable") ?? true,
    exclusive: flag(options, "exclusive"),
    autoDelete: flag(options, "autoDelete"),
    ...Object.fromEntries(given),
  });
}

type QueueOption = keyof typeof QUEUE_ARGUMENTS;

/** An option of a queue, however the application gave it. */
export function queueOption(options: unknown, name: QueueOption): unknown {
  // Not every argument of a queue has an option of amqplib's; its types do not let through those that have none.
  return field(options, name) ?? field(field(options, "arguments"), QUEUE_ARGUMENTS[name]);
}

/** What an operator is told of an exchange. */
export function exchangeProperties(type: unknown, options: unknown): Properties {
  return plain({
    exchangeType: type,
    durable: field(options, "durable") ?? true,
    internal: flag(options, "internal"),
    autoDelete: flag(options, "autoDelete"),
    alternateExchange: alternateOf(options),
  });
}

/** The exchange for what another one cannot route. */
export function alternateOf(options: unknown): unknown {
  return field(options, "alternateExchange") ?? field(field(options, "arguments"), "alternate-exchange");
}

/** Whether the broker deletes a queue with such options by itself. */
export function goesByItself(options: unknown): boolean {
  return Boolean(field(options, "exclusive") || field(options, "autoDelete") || queueOption(options, "expires"));
}

function flag(options: unknown, name: string): true | undefined {
  return field(options, name) ? true : undefined;
}

/** Texts, numbers and flags only: what else an application may have put there says nothing to an operator. */
function plain(values: { readonly [name: string]: unknown }): Properties {
  const fit = ([, value]: [string, unknown]) =>
    typeof value === "boolean" || Number.isFinite(value) || (typeof value === "string" && value.length <= 255);
  return Object.fromEntries(Object.entries(values).filter(fit)) as Properties;
}
