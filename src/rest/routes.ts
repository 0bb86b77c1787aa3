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
}

/** One operation under one path. */
export interface Route {
  readonly method: Method;
  /** Below the base path; a parameter stands in braces as the last segment. */
  readonly path: string;
  readonly endpoint: keyof Endpoints;
  readonly operation: Operation;
}

type Method = "GET" | "POST" | "DELETE";

/**
 * Section 4 of the specification and the contract's *Routes*, row by row. Paths, 404, 405, `Allow`, OPTIONS and the index
 * are derived from it; the rows of an endpoint that is left out are not there.
 */
export function createRoutes(endpoints: Endpoints, settings: RouteSettings): readonly Route[] {
  const routes: readonly Route[] = [
    row("GET", "", "application", () => readIndex(settings, () => routes)),
    row("GET", "/health", "health", readHealth),
    row("GET", "/info", "application", readInfo),
    row("GET", "/loggers", "loggers", listLoggers),
    row("GET", "/loggers/{name}", "loggers", readLogger),
    row("POST", "/loggers/{name}", "loggers", (loggers) => writeLevel(loggers, settings.temporaryLevels)),
    row("GET", "/sessions", "sessions", findSessions),
    row("GET", "/sessions/{sessionId}", "sessions", readSession),
    row("DELETE", "/sessions/{sessionId}", "sessions", deleteSession),
    row("GET", "/integrationgraph", "integrationGraph", readGraph),
    row("POST", "/integrationgraph", "integrationGraph", rebuildGraph),
  ].flat();
  return routes;

  function row<Name extends keyof Endpoints>(
    method: Method,
    path: string,
    endpoint: Name,
    operation: (domain: NonNullable<Endpoints[Name]>) => Operation,
  ): Route[] {
    const domain = endpoints[endpoint];
    return domain === undefined ? [] : [{ method, path, endpoint, operation: operation(domain!) }];
  }
}

function readIndex({ basePath, trustedProxies }: RouteSettings, routes: () => readonly Route[]): Operation {
  return {
    run(call) {
      const paths = routes().map(({ path }) => path);
      const json = indexJson(requestOrigin(call, trustedProxies) + call.mount + basePath, paths);
      return { status: 200, representation: new Representation(json) };
    },
  };
}
