import { hasMethods } from "../../../kit/interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of the library, in all its versions.
type Method = (...args: any[]) => any;

/** The Kafka object of kafkajs, which makes clients. */
export interface KafkajsKafka {
  readonly producer: Method;
  readonly consumer: Method;
  readonly admin: Method;
}

/** A producer of kafkajs: what `kafka.producer()` returns. */
export interface KafkajsProducer {
  readonly send: Method;
  readonly sendBatch: Method;
  readonly transaction: Method;
  readonly on: Method;
}

/** A consumer of kafkajs: what `kafka.consumer()` returns. */
export interface KafkajsConsumer {
  readonly subscribe: Method;
  readonly run: Method;
  readonly stop: Method;
  readonly disconnect: Method;
  readonly on: Method;
}

/** What {@link kafkajsSource} watches. */
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
