import { isWrite, type Permission } from "../access/permission.ts";
import type { Endpoints } from "../endpoints.ts";
import { readHealth, readInfo } from "./application.ts";
import { indexJson } from "./index-json.ts";
import { readGraph, rebuildGraph } from "./integration-graph.ts";
import { listLoggers, readLogger, writeLevel } from "./loggers.ts";
import type { Operation } from "./operation.ts";
import { requestOrigin, type TrustedProxies } from "./origin.ts";
import { Representation } from "./representation.ts";
import { deleteSession, findSessions, readSession } from "./sessions.ts";

/** What the routes need to know of the gateway. */
export interface RouteSettings {
  readonly basePath: string;
  readonly trustedProxies?: TrustedProxies | undefined;
  readonly temporaryLevels?: boolean | undefined;
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
  readonly operation: Operation;
}

type Method = "GET" | "POST" | "DELETE";

/**
 * Section 4 of the specification and the contract's *Routes*, row by row. Paths, 404, 405, `Allow`, OPTIONS and the index
 * are derived from it; the rows of an endpoint that is left out are not there, nor those that write where nothing may.
 */
export function createRoutes(endpoints: Endpoints, settings: RouteSettings): readonly Route[] {
  const routes: readonly Route[] = [
    row("GET", "", "application", "info:read", () => readIndex(settings, () => routes)),
    row("GET", "/health", "health", "info:read", readHealth, OPEN),
    row("GET", "/info", "application", "info:read", readInfo),
    row("GET", "/loggers", "loggers", "loggers:read", listLoggers),
    row("GET", "/loggers/{name}", "loggers", "loggers:read", readLogger),
    row("POST", "/loggers/{name}", "loggers", "loggers:write", (loggers) => writeLevel(loggers, settings)),
    row("GET", "/sessions", "sessions", "sessions:read", findSessions),
    row("GET", "/sessions/{sessionId}", "sessions", "sessions:read", readSession),
    row("DELETE", "/sessions/{sessionId}", "sessions", "sessions:delete", deleteSession),
    row("GET", "/integrationgraph", "integrationGraph", "graph:read", readGraph),
    row("POST", "/integrationgraph", "integrationGraph", "graph:write", rebuildGraph),
  ]
    .flat()
    .filter(({ permission }) => !(settings.readOnly && isWrite(permission)));
  return routes;

  function row<Name extends keyof Endpoints>(
    method: Method,
    path: string,
    endpoint: Name,
    permission: Permission,
    operation: (domain: NonNullable<Endpoints[Name]>) => Operation,
    open = false,
  ): Route[] {
    const domain = endpoints[endpoint];
    return domain === undefined ? [] : [{ method, path, endpoint, permission, open, operation: operation(domain!) }];
  }
}

/** A load balancer asks for the health, and has nothing to say who it is. */
const OPEN = true;

function readIndex({ basePath, trustedProxies }: RouteSettings, routes: () => readonly Route[]): Operation {
  return {
    run(call) {
      const paths = routes().map(({ path }) => path);
      const json = indexJson(requestOrigin(call, trustedProxies) + call.mount + basePath, paths);
      return { status: 200, representation: new Representation(json) };
    },
  };
}
