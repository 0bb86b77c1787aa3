import { isWrite, type Permission } from "../../access/permission.ts";
import type { Endpoints } from "../endpoints.ts";
import { type IndexSettings, readHealth, readHealthPart, readIndex, readInfo } from "./application.ts";
import { readGraph, rebuildGraph } from "./integration-graph.ts";
import { type LevelSettings, listLoggers, readLogger, writeLevel } from "./loggers.ts";
import { type DocumentSettings, readOpenApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { readPrometheus } from "./prometheus.ts";
import { deleteSession, findSessions, readSession } from "./sessions.ts";

/** What the routes need to know of the gateway. */
export interface RouteSettings extends DocumentSettings, IndexSettings, LevelSettings {
  /** Whether to leave out routes that change something. */
  readonly readOnly?: boolean | undefined;
}

/** One operation at one path. */
export interface Route {
  readonly method: Method;
  /** Below the base path; a parameter in braces can be the last segment. */
  readonly path: string;
  readonly endpoint: keyof Endpoints;
  /** The permission that the caller needs. */
  readonly permission: Permission;
  /** Whether callers without the permission get a reduced answer instead of 401 or 403. */
  readonly open: boolean;
  /** Whether the index lists it. */
  readonly listed: boolean;
  readonly operation: Operation;
  /** The name in the call log: `GET /loggers/{name}`. */
  readonly name: string;
}

type Method = "GET" | "POST" | "DELETE";

interface Row extends Omit<Route, "operation"> {
  /** Returns undefined if the endpoint is not served. */
  operation(endpoints: Endpoints, settings: RouteSettings, routes: () => readonly Route[]): Operation | undefined;
}

/** For load balancers, which ask for the health without credentials. */
const OPEN = { open: true };
/** The index has exactly the keys that the contract names. */
const OPEN_UNLISTED = { open: true, listed: false };
const UNLISTED = { listed: false };

/** Section 4 of the specification and the contract's *Routes*, row by row, and the routes that were added. */
const ROWS: readonly Row[] = [
  row("GET", "", "application", "info:read", (_, settings, routes) => readIndex(settings, routes)),
  row("GET", "/health", "health", "info:read", (health) => readHealth(health), OPEN),
  row("GET", "/health/{component}", "health", "info:read", (health) => readHealthPart(health), OPEN_UNLISTED),
  row("GET", "/info", "application", "info:read", (application) => readInfo(application)),
  row("GET", "/loggers", "loggers", "loggers:read", (loggers) => listLoggers(loggers)),
  row("GET", "/loggers/{name}", "loggers", "loggers:read", (loggers) => readLogger(loggers)),
  row("POST", "/loggers/{name}", "loggers", "loggers:write", (loggers, settings, _, { fleet }) =>
    writeLevel(loggers, fleet?.isDefault ? fleet : undefined, settings),
  ),
  row("GET", "/sessions", "sessions", "sessions:read", (sessions) => findSessions(sessions)),
  row("GET", "/sessions/{sessionId}", "sessions", "sessions:read", (sessions) => readSession(sessions)),
  row("DELETE", "/sessions/{sessionId}", "sessions", "sessions:delete", (sessions) => deleteSession(sessions)),
  row("GET", "/integrationgraph", "integrationGraph", "graph:read", (graph) => readGraph(graph)),
  row("POST", "/integrationgraph", "integrationGraph", "graph:write", (graph) => rebuildGraph(graph)),
  row("GET", "/openapi.json", "application", "info:read", readOpenApi, UNLISTED),
  row("GET", "/prometheus", "metrics", "info:read", (metrics) => readPrometheus(metrics), UNLISTED),
];

/** The names of all operations in the call log: `GET /loggers/{name}`. */
export const REST_OPERATIONS: readonly string[] = ROWS.map(({ name }) => name);

/** All paths below the base path: `/loggers/{name}`. */
export const REST_PATHS: readonly string[] = ROWS.map(({ path }) => path);

/**
 * Returns the routes of the endpoints that are served; in read-only mode without those that write. Paths, 404, 405, `Allow`, OPTIONS, the
 * index and the OpenAPI document follow from them.
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
    endpoints: Endpoints,
  ) => Operation | undefined,
  { open = false, listed = true }: Partial<Pick<Route, "open" | "listed">> = {},
): Row {
  const operation: Row["operation"] = (endpoints, settings, routes) => {
    const domain = endpoints[endpoint];
    return domain === undefined ? undefined : make(domain!, settings, routes, endpoints);
  };
  return { method, path, endpoint, permission, open, listed, operation, name: `${method} ${path || "/"}` };
}

/** The routes of one path. */
export interface Resource {
  /** As in the table: `/loggers/{name}`. */
  readonly path: string;
  /** By method. */
  readonly operations: ReadonlyMap<string, Route>;
  /** The value of an `Allow` header. */
  readonly allow: string;
  readonly cacheControl: string;
}

/** The resource at a path. */
export interface Match {
  readonly resource: Resource;
  /** The last segment of the path as it was sent; empty if the resource has no parameter. */
  readonly segment: string;
}

/** Finds the resource at a path below the base path; undefined if there is none. */
export type Router = (path: string) => Match | undefined;

/** Makes the router of these routes. */
export function createRouter(routes: readonly Route[]): Router {
  const fixed = new Map<string, Match>();
  const parents = new Map<string, Resource>();
  for (const resource of resourcesOf(routes)) {
    const parameter = resource.path.indexOf("/{");
    if (parameter < 0) fixed.set(resource.path, { resource, segment: "" });
    else parents.set(resource.path.slice(0, parameter), resource);
  }
  return (path) => {
    const slash = path.lastIndexOf("/");
    const resource = slash > 0 && slash < path.length - 1 ? parents.get(path.slice(0, slash)) : undefined;
    return resource === undefined ? fixed.get(path) : { resource, segment: path.slice(slash + 1) };
  };
}

function resourcesOf(routes: readonly Route[]): Resource[] {
  return [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => ({
    path,
    operations: new Map(rows.map((route) => [route.method, route])),
    allow: [...rows.map(({ method }) => method), "HEAD", "OPTIONS"].join(", "),
    // Session ids are credentials, which no cache may store. Everything else is revalidated each time.
    cacheControl: rows[0]!.endpoint === "sessions" ? "no-store" : "no-cache",
  }));
}
