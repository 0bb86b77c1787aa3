import { isWrite, type Permission } from "../../access/permission.ts";
import type { Endpoints } from "../endpoints.ts";
import { readHealth, readHealthPart, readInfo } from "./application.ts";
import { indexJson } from "./index-json.ts";
import { readGraph, rebuildGraph } from "./integration-graph.ts";
import { type LevelSettings, listLoggers, readLogger, writeLevel } from "./loggers.ts";
import { type DocumentSettings, readOpenApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { requestOrigin } from "./origin.ts";
import { readPrometheus } from "./prometheus.ts";
import { Representation } from "./representation.ts";
import { deleteSession, findSessions, readSession } from "./sessions.ts";

/** What the routes need to know of the gateway. */
export interface RouteSettings extends DocumentSettings, LevelSettings {
  /** Whether what changes something is left out. */
  readonly readOnly?: boolean | undefined;
}

/** One operation under one path. */
export interface Route {
  readonly method: Method;
  /** Below the base path; a parameter stands in braces as the last segment. */
  readonly path: string;
  readonly endpoint: keyof Endpoints;
  /** What its caller must be allowed to do. */
  readonly permission: Permission;
  /** Whether those without the permission are answered too, with less. */
  readonly open: boolean;
  /** Whether the index names it. */
  readonly listed: boolean;
  readonly operation: Operation;
  /** How the call log names it: `GET /loggers/{name}`. */
  readonly name: string;
}

type Method = "GET" | "POST" | "DELETE";

interface Row extends Omit<Route, "operation"> {
  /** Undefined where the endpoint is not served. */
  operation(endpoints: Endpoints, settings: RouteSettings, routes: () => readonly Route[]): Operation | undefined;
}

/** A load balancer asks for the health, and has nothing to say who it is. */
const OPEN = { open: true };
/** The index has the keys that the contract names, and no others. */
const OPEN_UNLISTED = { open: true, listed: false };
const UNLISTED = { listed: false };

/** Section 4 of the specification and the contract's *Routes*, row by row, and what was added to them. */
const ROWS: readonly Row[] = [
  row("GET", "", "application", "info:read", (_, settings, routes) => readIndex(settings, routes)),
  row("GET", "/health", "health", "info:read", (health) => readHealth(health), OPEN),
  row("GET", "/health/{component}", "health", "info:read", (health) => readHealthPart(health), OPEN_UNLISTED),
  row("GET", "/info", "application", "info:read", (application) => readInfo(application)),
  row("GET", "/loggers", "loggers", "loggers:read", (loggers) => listLoggers(loggers)),
  row("GET", "/loggers/{name}", "loggers", "loggers:read", (loggers) => readLogger(loggers)),
  row("POST", "/loggers/{name}", "loggers", "loggers:write", (loggers, settings) => writeLevel(loggers, settings)),
  row("GET", "/sessions", "sessions", "sessions:read", (sessions) => findSessions(sessions)),
  row("GET", "/sessions/{sessionId}", "sessions", "sessions:read", (sessions) => readSession(sessions)),
  row("DELETE", "/sessions/{sessionId}", "sessions", "sessions:delete", (sessions) => deleteSession(sessions)),
  row("GET", "/integrationgraph", "integrationGraph", "graph:read", (graph) => readGraph(graph)),
  row("POST", "/integrationgraph", "integrationGraph", "graph:write", (graph) => rebuildGraph(graph)),
  row("GET", "/openapi.json", "application", "info:read", readOpenApi, UNLISTED),
  row("GET", "/prometheus", "metrics", "info:read", (metrics) => readPrometheus(metrics), UNLISTED),
];

/** Every operation that there can be, as the call log names it: `GET /loggers/{name}`. */
export const REST_OPERATIONS: readonly string[] = ROWS.map(({ name }) => name);

/** Every path that there can be, below the base path: `/loggers/{name}`. */
export const REST_PATHS: readonly string[] = ROWS.map(({ path }) => path);

/**
 * The rows of what is served, without those that write where nothing may. Paths, 404, 405, `Allow`, OPTIONS and the index are
 * derived from them.
 */
export function createRoutes(endpoints: Endpoints, settings: RouteSettings): readonly Route[] {
  const routes: Route[] = [];
  for (const row of ROWS) {
    const operation = row.operation(endpoints, settings, () => routes);
    if (operation === undefined || (settings.readOnly && isWrite(row.permission))) continue;
    routes.push({ ...row, operation });
  }
  return routes;
}

function row<Name extends keyof Endpoints>(
  method: Method,
  path: string,
  endpoint: Name,
  permission: Permission,
  make: (
    domain: NonNullable<Endpoints[Name]>,
    settings: RouteSettings,
    routes: () => readonly Route[],
  ) => Operation | undefined,
  { open = false, listed = true }: Partial<Pick<Route, "open" | "listed">> = {},
): Row {
  const operation: Row["operation"] = (endpoints, settings, routes) => {
    const domain = endpoints[endpoint];
    return domain === undefined ? undefined : make(domain!, settings, routes);
  };
  return { method, path, endpoint, permission, open, listed, operation, name: `${method} ${path || "/"}` };
}

function readIndex({ basePath, trustedProxies }: RouteSettings, routes: () => readonly Route[]): Operation {
  return {
    run(call) {
      const paths = routes().flatMap(({ path, listed }) => (listed ? [path] : []));
      const json = indexJson(requestOrigin(call, trustedProxies) + call.mount + basePath, paths);
      return { status: 200, representation: new Representation(json) };
    },
  };
}
