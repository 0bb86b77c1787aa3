import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import type { MqttClient } from "./target.ts";

/** The system that these brokers are of, as keys and counts name it. */
export const SYSTEM = "mqtt";

const PORTS: { readonly [protocol: string]: number } = { mqtts: 8883, ssl: 8883, tls: 8883, ws: 80, wss: 443 };

/** The identity of the broker that a client connects to. No broker says more of itself than its address. */
export function brokerOf(client: MqttClient, host: GraphHost): string {
  return host.broker(SYSTEM, addressOf(client.options));
}

function addressOf(options: object): string {
  // Of several brokers of one cluster the first stands for all.
  const servers = field(options, "servers");
  const server = Array.isArray(servers) && servers.length > 0 ? servers[0] : options;
  const name = [field(server, "hostname"), field(server, "host"), field(options, "path")].find(isText);
  if (name === undefined) return "unknown";
  const protocol = String(field(server, "protocol") ?? field(options, "protocol") ?? "mqtt").replace(/:$/, "");
  if (field(options, "unixSocket") || protocol.endsWith("+unix")) return `unix:${name}`;
  const port = field(server, "port") ?? PORTS[protocol] ?? 1883;
  return name.includes(":") && !name.startsWith("[") ? `[${name}]:${port}` : `${name}:${port}`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
