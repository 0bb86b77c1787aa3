import { type Check, type Checks, count, flag, oneOf, text, textsLike, timeLimit } from "../common/options.ts";
import type { FleetOptions } from "../fleet/options.ts";
import { type PrincipalPaths, principalFault } from "../sessions/principal.ts";

/** The sessions of other processes, in the store that they share. */
export interface StoreOptions {
  /** Redis, as a URL: `redis://user:password@host:6379/0`, or `rediss:` with TLS. Needs the package `redis`. */
  readonly redis?: string | undefined;
  /** PostgreSQL, as a URL: `postgres://user:password@host:5432/database`. Needs the package `pg`. */
  readonly postgres?: string | undefined;
  /** Who writes the sessions: `connect` (connect-redis, connect-pg-simple) or `spring` (Spring Session). Default `connect`. */
  readonly layout?: "connect" | "spring" | undefined;
  /** What the keys of connect-redis begin with. Default `sess:`. */
  readonly prefix?: string | undefined;
  /** The namespace of Spring Session in Redis. Default `spring:session`. */
  readonly namespace?: string | undefined;
  /** Whether Spring's applications use the indexed repository. Default: seen from the keys. */
  readonly indexed?: boolean | undefined;
  /** Whether every application that writes the sessions keeps connect-actuator's index in Redis. Default false. */
  readonly index?: boolean | undefined;
  /** The table in PostgreSQL. Default: `session`, or `SPRING_SESSION`. */
  readonly table?: string | undefined;
  /** The schema of that table. Default: where the connection looks by itself. */
  readonly schema?: string | undefined;
  /** The time zone of the connections of the applications that use connect-pg-simple. */
  readonly timeZone?: string | undefined;
  /** Milliseconds that a session lives if its cookie does not say, as the application has it. Default 86,400,000. */
  readonly ttlMs?: number | undefined;
  /** Whose a session is: places in it. */
  readonly principal?: PrincipalPaths | undefined;
  /** Milliseconds to wait for an answer of the store. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** The graph that spans of other services are drawn into. */
export interface GraphOptions {
  /** What the graph is called. Default: `name`. */
  readonly app?: string | undefined;
  /** What brokers are called, by the address that services know: `{ "rabbitmq://10.0.0.1:5672": "main" }`. */
  readonly brokers?: Readonly<Record<string, string>> | undefined;
}

/** What a sidecar has besides the options of any actuator. */
export interface StandaloneOptions {
  readonly store?: StoreOptions | undefined;
  readonly graph?: boolean | GraphOptions | undefined;
  readonly fleet?: FleetOptions | undefined;
}

const urlOf = (...protocols: readonly string[]): Check => {
  return (value) =>
    typeof value === "string" &&
    URL.canParse(value) &&
    protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`))
      ? undefined
      : `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`;
};

/** The checks of {@link StoreOptions}. */
export const STORE: Checks<StoreOptions> = {
  redis: urlOf("redis:", "rediss:"),
  postgres: urlOf("postgres:", "postgresql:"),
  layout: oneOf("connect", "spring"),
  prefix: (value) => (typeof value === "string" ? undefined : "must be a text"),
  namespace: text,
  indexed: flag,
  index: flag,
  table: text,
  schema: text,
  timeZone: text,
  ttlMs: count,
  principal: (value) => (typeof value === "function" ? "must be a list of places" : principalFault(value)),
  timeoutMs: timeLimit,
};

/** The checks of {@link GraphOptions}. */
export const GRAPH: Checks<GraphOptions> = {
  app: text,
  brokers: textsLike('{ "rabbitmq://10.0.0.1:5672": "main" }'),
};
