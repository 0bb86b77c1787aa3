import {
  type Checks,
  flag,
  nonNegativeMs,
  oneOf,
  option,
  shaped,
  text,
  textsLike,
  timeLimitMs,
} from "../common/options.ts";
import { type PrincipalPaths, principalFault } from "../sessions/principal.ts";
import { urlOf } from "./url.ts";

/** The sessions of other processes, in the store that they share. */
export interface StoreOptions {
  /** Redis, as a URL: `redis://user:password@host:6379/0`, or `rediss:` with TLS. Needs the package `redis`. */
  readonly redis?: string | undefined;
  /** PostgreSQL, as a URL: `postgres://user:password@host:5432/database`. Needs the package `pg`. */
  readonly postgres?: string | undefined;
  /**
   * Which library writes the sessions: `connect` (connect-redis, connect-pg-simple) or `spring` (Spring Session). Default
   * `connect`.
   */
  readonly layout?: "connect" | "spring" | undefined;
  /** The prefix of the keys of connect-redis. Default `sess:`. */
  readonly prefix?: string | undefined;
  /** The namespace of Spring Session in Redis. Default `spring:session`. */
  readonly namespace?: string | undefined;
  /** Whether Spring's applications use the indexed repository. Default: detected from the keys. */
  readonly indexed?: boolean | undefined;
  /** Whether every application that writes the sessions keeps connect-actuator's index in Redis. Default false. */
  readonly index?: boolean | undefined;
  /** The table in PostgreSQL. Default: `session`, or `SPRING_SESSION`. */
  readonly table?: string | undefined;
  /** The schema of that table. Default: the connection's search path. */
  readonly schema?: string | undefined;
  /** The time zone of the connections of the applications that use connect-pg-simple. */
  readonly timeZone?: string | undefined;
  /**
   * Milliseconds that a session lives if its cookie has no expiry; the same as in the application. Default 86,400,000.
   */
  readonly ttlMs?: number | undefined;
  /** Where a session holds its user: paths in the record. */
  readonly principal?: PrincipalPaths | undefined;
  /** Milliseconds to wait for an answer of the store. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** The graph that spans of other services are drawn into. */
export interface GraphOptions {
  /** The name of the graph. Default: `name`. */
  readonly app?: string | undefined;
  /** Names for brokers, by the address that services use: `{ "rabbitmq://10.0.0.1:5672": "main" }`. */
  readonly brokers?: Readonly<Record<string, string>> | undefined;
}

/** The options of a sidecar besides those of any actuator. */
export interface StandaloneOptions {
  readonly store?: StoreOptions | undefined;
  readonly graph?: boolean | GraphOptions | undefined;
  readonly fleetEngine?: boolean | undefined;
}

/** The checks of {@link StoreOptions}. */
export const STORE: Checks<StoreOptions> = {
  redis: urlOf("redis:", "rediss:"),
  postgres: urlOf("postgres:", "postgresql:"),
  layout: option(oneOf("connect", "spring"), { default: "connect" }),
  prefix: shaped({ kind: "text" }, (value) => (typeof value === "string" ? undefined : "must be a string")),
  namespace: text,
  indexed: flag,
  index: flag,
  table: text,
  schema: text,
  timeZone: text,
  ttlMs: nonNegativeMs,
  principal: shaped(
    { kind: "json" },
    (value) => (typeof value === "function" ? "must be a list of paths" : principalFault(value)),
    { schema: { type: "array", items: { type: "array", items: { type: "string" }, minItems: 1 } } },
  ),
  timeoutMs: option(timeLimitMs, { default: 5_000 }),
};

/** The checks of {@link GraphOptions}. */
export const GRAPH: Checks<GraphOptions> = {
  app: text,
  brokers: textsLike('{ "rabbitmq://10.0.0.1:5672": "main" }'),
};

/** Settings of a sidecar that are valid one by one, but not together. */
export interface StandaloneFault {
  /** Such as `sessions.store`; empty: the configuration as a whole. */
  readonly setting: string;
  readonly message: string;
  /** The settings that it depends on. Left out: the setting itself. */
  readonly dependsOn?: readonly string[];
}

type Named = readonly (keyof StoreOptions)[];

/** By database and layout, the other options of the store. */
const TAKEN: Readonly<Record<"redis" | "postgres", Readonly<Record<"connect" | "spring", Named>>>> = {
  redis: { connect: ["prefix", "ttlMs", "principal", "index"], spring: ["namespace", "indexed"] },
  postgres: { connect: ["table", "schema", "timeZone", "ttlMs", "principal"], spring: ["table", "schema"] },
};

/** Lists everything that keeps a sidecar from being made of these settings. */
export function standaloneFaults(settings: {
  readonly standalone: StandaloneOptions;
  readonly options: Partial<Readonly<Record<"sessions" | "loggers" | "fleet", object | undefined>>> & {
    otlp?: unknown;
  };
}): StandaloneFault[] {
  const { store, graph, fleetEngine } = settings.standalone;
  const { sessions, loggers, otlp, fleet } = settings.options;
  const faults = store === undefined ? [] : storeFaults(store);
  if (sessions !== undefined && store === undefined && Object.keys(sessions).length > 0) {
    const message = "sessions needs a store: set sessions.store.redis or sessions.store.postgres";
    faults.push({ setting: "sessions", message, dependsOn: ["sessions.store"] });
  }
  if (loggers !== undefined && fleet === undefined) {
    const message = "loggers belong to a fleet here: set fleet.redis, for example";
    faults.push({ setting: "loggers", message, dependsOn: ["fleet"] });
  }
  if (otlp && graph === false) {
    faults.push({ setting: "otlp", message: "otlp needs a graph to draw into, but graph is false" });
  }
  const isEmpty = store === undefined && fleet === undefined && !fleetEngine && !graph && !otlp;
  if (faults.length > 0 || !isEmpty) return faults;
  const message =
    "there is nothing to serve: set sessions.store, graph, fleet or fleetEngine (connect-actuator config schema lists all)";
  return [{ setting: "", message }];
}

function storeFaults(options: StoreOptions): StandaloneFault[] {
  const { redis, postgres, layout = "connect", timeoutMs: _, ...rest } = options;
  if ((redis === undefined) === (postgres === undefined)) {
    return [{ setting: "sessions.store", message: "sessions.store must have either redis or postgres, a URL" }];
  }
  const kind = redis === undefined ? "postgres" : "redis";
  const taken = TAKEN[kind][layout];
  return Object.entries(rest)
    .filter(([name, value]) => value !== undefined && !taken.includes(name as keyof StoreOptions))
    .map(([name]) => ({
      setting: `sessions.store.${name}`,
      message: `sessions.store has ${name}, which ${kind} with the layout "${layout}" does not take; it takes ${taken.join(", ")}`,
    }));
}
