import type { Endpoints } from "../../src/http/endpoints.ts";
import { createGateway, type Gateway, type GatewayOptions } from "../../src/http/rest/gateway.ts";
import { createRoutes } from "../../src/http/rest/routes.ts";
import { type GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import { Health } from "../../src/operations/health/health.ts";
import { MemorySessionStore } from "../../src/sessions/memory-store.ts";
import { Sessions } from "../../src/sessions/sessions.ts";
import { OPEN_GATE } from "./open-gate.ts";
import { contractOf, type OpenApiContract } from "./openapi-contract.ts";
import type { RestClient } from "./rest-client.ts";

/** The real domains behind a gateway, each within reach of the test. */
export interface RestApplication {
  readonly gateway: Gateway;
  readonly health: Health;
  readonly loggers: Loggers;
  readonly store: MemorySessionStore;
  readonly graph: GraphBuilder;
  /** What the gateway reported, with its context. */
  readonly reported: { readonly error: unknown; readonly context: string }[];
  /** The same client, failing where an answer is not as the OpenAPI document says. */
  checked(client: RestClient): RestClient;
  readonly contract: OpenApiContract;
}

/** How the application under test differs from the usual one. */
export interface RestApplicationOptions {
  readonly loggers?: LoggersOptions;
  /** Milliseconds since the epoch, for the sessions. */
  readonly clock?: () => number;
  readonly gateway?: Partial<GatewayOptions>;
  /** Takes the place of endpoints: undefined leaves one out. */
  readonly endpoints?: Partial<Endpoints>;
}

/** Builds the three domains and a gateway before them. */
export function restApplication(options: RestApplicationOptions = {}): RestApplication {
  const health = new Health();
  const loggers = new Loggers(options.loggers);
  const store = new MemorySessionStore({ clock: options.clock });
  const graph = integrationGraph({ app: "shop" });
  const reported: { error: unknown; context: string }[] = [];
  const endpoints: Endpoints = {
    application: { name: "shop", version: "1.2.3", startTime: Date.now() },
    health,
    loggers,
    sessions: new Sessions(store, { ids: "raw" }),
    integrationGraph: graph.graph,
    ...options.endpoints,
  };
  const settings: GatewayOptions = {
    basePath: "/actuator",
    gate: OPEN_GATE,
    onError: (error, context) => reported.push({ error, context }),
    ...options.gateway,
  };
  const gateway = createGateway(endpoints, settings);
  const { basePath, gate } = settings;
  const served = createRoutes(endpoints, { ...settings, readOnly: gate.readOnly });
  const contract = contractOf({ basePath, served, schemes: gate.challenge === undefined ? [] : ["bearer", "basic"] });
  return { gateway, health, loggers, store, graph, reported, contract, checked: (client) => contract.checked(client) };
}
