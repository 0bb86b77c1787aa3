import { ACCESS } from "../../access/options.ts";
import { ATTRIBUTES, LOGGERS, OPTIONS, SESSIONS } from "../../actuator-options.ts";
import { anything, type Checks, text } from "../../common/options.ts";
import { FLEET } from "../../fleet/options.ts";
import { CORS } from "../../http/gate/cors-options.ts";
import { OTLP } from "../../http/otlp/options.ts";
import { DEFAULT_STREAMS, type StreamOptions } from "../../http/rpc/stream-options.ts";
import type { HealthOptions } from "../../operations/health/health-options.ts";
import { METRICS } from "../../operations/metrics/options.ts";
import { ADMIN } from "../../operations/spring-boot-admin/options.ts";
import { LIMITS } from "../../server/limits.ts";
import { LISTEN } from "../../server/listen-options.ts";
import { sectionOf } from "../schema.ts";
import { GRAPH, STORE } from "../serve-options.ts";
import { CODE, type Notes, type Section, type SectionNote } from "../setting.ts";
import { ACCESS_NOTES } from "./access.ts";
import { ADMIN_NOTES } from "./admin.ts";
import { LIMITS_NOTES } from "./limits.ts";
import { LISTEN_NOTES } from "./listen.ts";
import { LOGGERS_NOTES } from "./loggers.ts";
import { OTLP_NOTES } from "./otlp.ts";
import { ATTRIBUTES_NOTES, SESSIONS_NOTES } from "./sessions.ts";
import { FLEET_NOTES, GRAPH_NOTES, STORE_NOTES } from "./standalone.ts";

const SESSIONS_SECTION: SectionNote = {
  description: "How sessions are shown.",
  checks: SESSIONS,
  notes: {
    ...SESSIONS_NOTES,
    store: {
      description: "The store of the sessions of other processes.",
      checks: STORE,
      notes: STORE_NOTES,
      standalone: true,
    },
    attributes: { description: "Which names of attributes are shown.", checks: ATTRIBUTES, notes: ATTRIBUTES_NOTES },
  },
};

/** What is said of each option of `createActuator`, and of what a file says besides. */
// biome-ignore lint/suspicious/noExplicitAny: one table for options of every kind.
const ROOT_NOTES: Notes<any> = {
  name: { description: "The application's name." },
  version: { description: "The application's version." },
  listen: { description: "Where to listen.", checks: LISTEN, notes: LISTEN_NOTES, always: true },
  basePath: { description: "The path that the REST interface stands under.", kind: "text", default: "/actuator" },
  trustedProxies: { description: "IP addresses and networks of proxies whose X-Forwarded headers are believed." },
  allowedHosts: {
    description: "What callers may name as the host. Default: loopback names, or any with access control.",
  },
  cors: {
    description: "Which pages may call from a browser.",
    checks: CORS,
    notes: {
      origins: { description: "Origins such as https://admin.example.com or https://*.example.com.", kind: "list" },
      headers: { description: "What a page may send beside the headers of REST, Connect and gRPC-Web." },
      maxAgeMs: { description: "How long a browser caches the permission.", kind: "milliseconds", default: 600_000 },
    } satisfies Notes<typeof CORS>,
  },
  access: { description: "Who may do what.", checks: ACCESS, notes: ACCESS_NOTES },
  readOnly: { description: "Whether everything that changes something is refused.", default: false },
  audit: {
    description: "Whether each write and each look at sessions is one line of JSON on stderr, or in a file.",
    checks: { file: text },
    notes: { file: { description: "The file that the lines go to.", path: "written" } },
    flag: true,
  },
  metrics: {
    description: "Metrics of the actuator itself.",
    checks: METRICS,
    notes: {
      prometheus: { description: "Whether they are served as text for Prometheus.", default: true },
      durationBuckets: { description: "The upper boundaries of buckets of durations, in seconds.", kind: "json" },
    } satisfies Notes<typeof METRICS>,
    flag: false,
  },
  health: {
    description: "What the health depends on.",
    notes: {
      checks: CODE,
      timeoutMs: { description: "After which a check has failed.", default: 1_000 },
      cacheMs: { description: "For which an answer is good enough.", default: 1_000 },
      intervalMs: { description: "How often the checks run while somebody watches.", default: 5_000 },
    } satisfies Notes<HealthOptions>,
  },
  admin: {
    description: "The Spring Boot Admin servers to register with.",
    notes: ADMIN_NOTES,
    checks: ADMIN,
  },
  heartbeatMs: { description: "The longest silence of a stream.", default: 15_000 },
  streams: {
    description: "How many streams there may be.",
    notes: {
      max: { description: "Of all callers together.", default: DEFAULT_STREAMS.max },
      maxPerCaller: { description: "Of one caller who said who they are.", default: DEFAULT_STREAMS.maxPerCaller },
      maxAgeMs: {
        description: "How long one goes on before its client has to begin it again.",
        default: DEFAULT_STREAMS.maxAgeMs,
      },
    } satisfies Notes<StreamOptions>,
  },
  limits: { description: "What the port puts up with.", checks: LIMITS, notes: LIMITS_NOTES, always: true },
  loggers: { description: "How loggers are shown and set.", checks: LOGGERS, notes: LOGGERS_NOTES },
  sessions: SESSIONS_SECTION,
  integrationGraph: CODE,
  otlp: { description: "Whether spans of other services are taken.", checks: OTLP, notes: OTLP_NOTES, flag: false },
  graph: {
    description: "The graph that spans of other services are drawn into.",
    checks: GRAPH,
    notes: GRAPH_NOTES,
    flag: false,
    standalone: true,
  },
  fleet: {
    description: "The actuators whose loggers are shown and set as one.",
    checks: FLEET,
    notes: FLEET_NOTES,
    standalone: true,
  },
  onError: CODE,
};

const ROOT_CHECKS: Checks<object> = { ...OPTIONS, listen: anything, graph: anything, fleet: anything };

/** Everything that can be said without code. What the checks of the options have and no note has is here all the same. */
export const SCHEMA: Section = sectionOf(
  { description: "The configuration of connect-actuator.", notes: ROOT_NOTES, always: true },
  ROOT_CHECKS,
);
