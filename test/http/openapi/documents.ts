import type { Endpoints } from "../../../src/http/endpoints.ts";
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import { openApiDocument } from "../../../src/http/openapi/document.ts";
import { createRoutes, type Route, type RouteSettings } from "../../../src/http/rest/routes.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Health } from "../../../src/operations/health/health.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";

const application = { name: "shop", version: "1.2.3", startTime: 0 };

/** Everything that can be served. */
function everything(): Endpoints {
  return {
    application,
    health: new Health({ checks: { database: () => true } }),
    loggers: new Loggers(),
    sessions: new Sessions(new MemorySessionStore(), { ids: "raw" }),
    integrationGraph: integrationGraph({ app: "shop" }).graph,
    metrics: new Metrics({ operations: [] }),
  };
}

interface Serving {
  readonly endpoints: Endpoints;
  readonly settings?: Partial<RouteSettings>;
  readonly secured?: true;
}

/** Servers that differ in what they serve. */
export const SERVED: Readonly<Record<string, Serving>> = {
  everything: { endpoints: everything() },
  "everything, secured": { endpoints: everything(), secured: true },
  "everything, read-only": { endpoints: everything(), settings: { readOnly: true } },
  "the loggers alone": { endpoints: { application, health: new Health(), loggers: new Loggers() } },
  nothing: { endpoints: { application, health: new Health() } },
};

/** The routes of one of {@link SERVED}. */
export function served(name: string): readonly Route[] {
  const { endpoints, settings } = SERVED[name]!;
  return createRoutes(endpoints, { basePath: "/actuator", ...settings });
}

/** The document of one of {@link SERVED}. */
export function documentOf(name: string): OpenApiDocument {
  return openApiDocument({
    application,
    basePath: "/actuator",
    serverUrl: "http://127.0.0.1:9090",
    served: served(name),
    schemes: SERVED[name]!.secured ? ["bearer", "basic"] : [],
  });
}
