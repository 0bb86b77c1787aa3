import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { isMethod, type NatsConnection } from "./target.ts";

/** The system that these brokers are of, as keys and counts name it. */
export const SYSTEM = "nats";

/**
 * The identity of the broker behind a connection: the name of its cluster, else the name that somebody gave the server, else the
 * server's id. An id is made up at every start: the first one that the graph hears of stays that of the address.
 */
export function brokerOf(connection: NatsConnection, host: GraphHost): string {
  const info = field(connection, "info");
  const address = addressOf(connection);
  const [id, cluster, name] = [field(info, "server_id"), field(info, "cluster"), field(info, "server_name")];
  const given = [cluster, name].find((text) => typeof text === "string" && text !== "" && text !== id);
  if (typeof given === "string") host.nameBroker(SYSTEM, address, given);
  else if (typeof id === "string" && host.broker(SYSTEM, address) === address) host.nameBroker(SYSTEM, address, id);
  return host.broker(SYSTEM, address);
}

function addressOf(connection: NatsConnection): string {
  const address: unknown = isMethod(connection, "getServer") ? Reflect.apply(server(connection), connection, []) : "";
  return typeof address === "string" && address !== "" ? address.toLowerCase() : "unknown";
}

function server(connection: object): () => unknown {
  return Reflect.get(connection, "getServer");
}
