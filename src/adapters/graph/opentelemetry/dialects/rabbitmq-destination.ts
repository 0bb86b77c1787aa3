import type { Destination, Operation, Traffic } from "../traffic.ts";

/** What instrumentations call the exchange without a name. */
const DEFAULT_EXCHANGES = new Set(["", "amq.default", "<default>", "(default)"]);

/**
 * The conventions join exchange, routing key and queue with colons, `orders:eu.new:billing`, leave out what is empty or said
 * already, and allow colons in each of the three. So the routing key, which has an attribute of its own, is cut out; of a send
 * the exchange remains, of a delivery exchange and queue.
 */
export function rabbitmqDestination(
  operation: Operation,
  name: string,
  key: string | undefined,
): Pick<Traffic, "destination" | "exchange"> {
  if (operation === "send") {
    const exchange = key === undefined ? name : withoutEnd(name, key);
    return { destination: DEFAULT_EXCHANGES.has(exchange) ? queue(key ?? "") : at("exchange", exchange) };
  }
  const [exchange, queueName] = delivered(name, key);
  return {
    destination: queue(queueName),
    exchange: DEFAULT_EXCHANGES.has(exchange) ? undefined : at("exchange", exchange),
  };
}

/** Exchange and queue. A name that is no longer taken apart is a queue's. */
function delivered(name: string, key: string | undefined): readonly [string, string] {
  if (key === undefined || name === key) return ["", name];
  const middle = name.indexOf(`:${key}:`);
  if (middle >= 0) return [name.slice(0, middle), name.slice(middle + key.length + 2)];
  if (name.startsWith(`${key}:`)) return ["", name.slice(key.length + 1)];
  // A queue that is called like the routing key is not said twice.
  if (name.endsWith(`:${key}`)) return [name.slice(0, -key.length - 1), key];
  return DEFAULT_EXCHANGES.has(name) ? ["", key] : ["", name];
}

function withoutEnd(name: string, key: string): string {
  if (name === key) return "";
  return name.endsWith(`:${key}`) ? name.slice(0, -key.length - 1) : name;
}

function queue(name: string): Destination {
  return at("queue", name);
}

/** Spans do not tell the virtual host. */
function at(kind: string, name: string): Destination {
  return { kind, name, scope: "//" };
}
