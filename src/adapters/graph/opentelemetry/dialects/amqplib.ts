import { brokerAddress } from "../address.ts";
import { type Span, SpanKind, textOf } from "../span.ts";
import type { Destination, Dialect, Reading, Traffic } from "../traffic.ts";

const PROCESS = / process$/;

/**
 * `@opentelemetry/instrumentation-amqplib`, in the words of semantic conventions 1.7: the destination is the exchange, and the
 * queue of a consumer is in the name of its span alone, `<queue> process`. A message for the default exchange is for the queue
 * that its routing key names.
 */
export const amqplibDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-amqplib"],

  read({ name, kind, attributes }: Span): Reading | undefined {
    const exchange = attributes["messaging.destination"];
    if (typeof exchange !== "string") return undefined;
    const url = attributes["messaging.url"];
    const place = {
      address: textOf(url) ?? textOf(attributes["server.address"]),
      port: url === undefined ? attributes["server.port"] : undefined,
    };
    if (kind === SpanKind.CONSUMER) {
      return { operation: "process", system: "rabbitmq", destination: name, detail: exchange, ...place };
    }
    if (kind !== SpanKind.PRODUCER) return undefined;
    const queue = exchange === "" ? (textOf(attributes["messaging.rabbitmq.routing_key"]) ?? "") : undefined;
    return { operation: "send", system: "rabbitmq", destination: exchange, detail: queue, ...place };
  },

  understand({ operation, system, destination, detail, address, port }: Reading): Traffic {
    const place = placeOf(address, port);
    const at = (kind: string, name: string): Destination => ({ kind, name, scope: `${place.vhost}/` });
    if (operation === "process") {
      const exchange = detail === "" || detail === undefined ? undefined : at("exchange", detail);
      const queue = at("queue", destination.replace(PROCESS, ""));
      return { operation, system, destination: queue, exchange, address: place.address };
    }
    const target = detail === undefined ? at("exchange", destination) : at("queue", detail);
    return { operation, system, destination: target, address: place.address };
  },
};

/** What the instrumentation has of a connection: its URL, with the password crossed out, or host and port. */
function placeOf(address: string | undefined, port: unknown): { address: string | undefined; vhost: string } {
  if (!address?.includes("://")) return { address: brokerAddress(address, port ?? 5672), vhost: "/" };
  try {
    const url = new URL(address);
    const plain = url.protocol === "amqps:" ? 5671 : 5672;
    const vhost = decodeURIComponent(url.pathname.slice(1)) || "/";
    return { address: brokerAddress(url.hostname || "localhost", url.port || plain), vhost };
  } catch {
    return { address: undefined, vhost: "/" };
  }
}
