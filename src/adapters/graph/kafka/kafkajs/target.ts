import { hasMethods } from "../../../kit/interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of the library, in all its versions.
type Method = (...args: any[]) => any;

/** The object that clients of kafkajs come from. */
export interface KafkajsKafka {
  readonly producer: Method;
  readonly consumer: Method;
  readonly admin: Method;
}

/** What `kafka.producer()` gives, as far as it is watched. */
export interface KafkajsProducer {
  readonly send: Method;
  readonly sendBatch: Method;
  readonly transaction: Method;
  readonly on: Method;
}

/** What `kafka.consumer()` gives, as far as it is watched. */
export interface KafkajsConsumer {
  readonly subscribe: Method;
  readonly run: Method;
  readonly stop: Method;
  readonly disconnect: Method;
  readonly on: Method;
}

/** What messages of kafkajs go through. */
export type KafkajsTarget = KafkajsKafka | KafkajsProducer | KafkajsConsumer;

export function isKafka(value: unknown): value is KafkajsKafka {
  return hasMethods(value, "producer", "consumer", "admin");
}

export function isProducer(value: unknown): value is KafkajsProducer {
  return hasMethods(value, "send", "sendBatch", "transaction", "on");
}

export function isConsumer(value: unknown): value is KafkajsConsumer {
  return hasMethods(value, "subscribe", "run", "stop", "disconnect", "on");
}
