import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../interception/field.ts";

/** Where a Redis is, as the options of its client say. */
export interface RedisAddress {
  /** "host:port", the path of a socket, or the name that sentinels know it by. */
  readonly place: string;
  readonly db: number;
}

/**
 * The address of the Redis that a client of node-redis or ioredis talks to, or a connection with such options would. Of a cluster
 * it is the first node that the application names.
 */
export function addressOf(connection: unknown): RedisAddress {
  const options = field(connection, "options") ?? connection;
  const url = fromUrl(field(options, "url"));
  const nodes =
    field(connection, "startupNodes") ??
    field(field(connection, "_options"), "rootNodes") ??
    field(options, "rootNodes");
  if (Array.isArray(nodes) && nodes.length > 0) return { ...addressOf(optionsOfNode(nodes[0])), db: 0 };
  const socket = field(options, "socket");
  const db = Number(field(options, "db") ?? field(options, "database") ?? url?.db ?? 0) || 0;
  const path = field(options, "path") ?? field(socket, "path");
  if (typeof path === "string" && path !== "") return { place: path, db };
  const master = field(options, "name");
  if (Array.isArray(field(options, "sentinels")) && typeof master === "string") return { place: master, db };
  const host = text(field(options, "host")) ?? text(field(socket, "host")) ?? url?.host ?? "localhost";
  const port = Number(field(options, "port") ?? field(socket, "port") ?? url?.port ?? 6379) || 6379;
  return { place: `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`, db };
}

/**
 * The identity of a Redis: what the configuration calls it, under the name of the system or under `redis`, else its address. With
 * `db`, the identity of that database.
 */
export function redisIdentity(host: GraphHost, system: string, { place, db }: RedisAddress, withDb: boolean): string {
  const suffix = withDb ? `/${db}` : "";
  // The address as it is shown if it is not configured: no application configures this system.
  const shown = (address: string) => host.broker("address", address);
  for (const scheme of new Set([system, "redis"])) {
    const [whole, server] = [host.broker(scheme, place + suffix), host.broker(scheme, place)];
    if (whole !== shown(place + suffix)) return whole;
    if (server !== shown(place)) return server + suffix;
  }
  return shown(place + suffix);
}

function optionsOfNode(node: unknown): unknown {
  if (typeof node === "number") return { port: node };
  if (typeof node !== "string") return node;
  return { url: node.includes("://") ? node : `redis://${node}` };
}

function fromUrl(url: unknown): { host: string; port: number; db: number } | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const { hostname, port, pathname } = new URL(url);
  return { host: hostname || "localhost", port: Number(port || 6379), db: Number(pathname.slice(1)) || 0 };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
