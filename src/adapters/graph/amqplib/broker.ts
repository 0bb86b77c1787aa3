import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";

/** The system that these brokers are of, as keys and counts name it. */
export const SYSTEM = "rabbitmq";

/**
 * The identity of the broker behind a connection: the name of its cluster, which it tells when a connection begins, and which is
 * the same by whatever address the application reaches it. A broker that tells none goes by its address.
 */
export function brokerOf(connection: object, host: GraphHost): string {
  const address = addressOf(connection);
  const cluster = field(field(connection, "serverProperties"), "cluster_name");
  if (typeof cluster === "string" && cluster !== "") host.nameBroker(SYSTEM, address, cluster);
  return host.broker(SYSTEM, address);
}

function addressOf(connection: object): string {
  const stream = field(connection, "stream");
  const [address, port] = [field(stream, "remoteAddress"), field(stream, "remotePort")];
  if (typeof address !== "string" || typeof port !== "number") return "unknown";
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
