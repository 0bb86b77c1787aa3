import { bearerToken, type Checks, option, text } from "../common/options.ts";
import type { FleetEngineSource } from "../fleet/engine.ts";
import { type ActuatorFleetOptions, FLEET, type FleetOptions, isEngine } from "../fleet/options.ts";
import { type EngineAddress, fleetEngineAt, KINDS, kindsOf } from "./fleet-engine.ts";
import type { StandaloneFault } from "./serve-options.ts";
import { urlOf, urlsOf } from "./url.ts";

/** A fleet whose engine is named by its address. */
export interface ConfiguredFleetOptions extends FleetOptions {
  /** The engine is Redis: `redis://user:password@host:6379`, or `rediss:` with TLS. Needs the package `redis` or `ioredis`. */
  readonly redis?: string | undefined;
  /** The engine is PostgreSQL: `postgres://user:password@host:5432/database`. Needs the package `pg`. */
  readonly postgres?: string | undefined;
  /** For PostgreSQL behind PgBouncer: an address past it, so that changes arrive at once. */
  readonly listenUrl?: string | undefined;
  /** The engine is NATS with JetStream: `nats://host:4222`, or several servers with commas between them. Needs `@nats-io/transport-node`, `@nats-io/jetstream` and `@nats-io/kv`. */
  readonly nats?: string | undefined;
  /** The engine is another process of connect-actuator with `fleetEngine`: `http://host:9001`. */
  readonly serve?: string | undefined;
  /** The token for `serve`. It needs the permission `fleet:join`. */
  readonly token?: string | undefined;
  /** Certificates of authorities in PEM for `serve`, trusted besides those of Node.js. */
  readonly ca?: string | undefined;
}

/** The checks of {@link ConfiguredFleetOptions}. */
export const CONFIGURED_FLEET: Checks<ConfiguredFleetOptions> = {
  redis: urlOf("redis:", "rediss:"),
  postgres: urlOf("postgres:", "postgresql:"),
  listenUrl: urlOf("postgres:", "postgresql:"),
  nats: urlsOf("nats:", "tls:"),
  serve: urlOf("http:", "https:"),
  token: bearerToken,
  ca: option(text, { secret: true }),
  ...FLEET,
};

/** The fleet of a configuration: an engine in code, options in code, or settings over these. */
export type FleetSettings = FleetEngineSource | (ConfiguredFleetOptions & Partial<ActuatorFleetOptions>);

/** Which settings belong to which engine. */
const BESIDE = { listenUrl: "postgres", token: "serve", ca: "serve" } as const;

/** What is wrong with a fleet whose settings are valid one by one. */
export function fleetFaults(
  fleet: FleetSettings,
  { serving, isKept }: { serving: boolean; isKept: boolean },
): StandaloneFault[] {
  if (isEngine(fleet)) return [];
  const kinds = kindsOf(fleet);
  const given = kinds.map((kind) => `fleet.${kind}`);
  if (given.length > 1) return [{ setting: "fleet", message: `fleet has more than one engine: ${given.join(", ")}` }];
  // An application has one in code, or adds it.
  if (given.length === 0 && serving && !isKept) {
    const all = KINDS.map((kind) => `fleet.${kind}`);
    const message = `fleet has no engine: set ${all.slice(0, -1).join(", ")} or ${all.at(-1)} to its address`;
    return [{ setting: "fleet", message, dependsOn: all }];
  }
  return Object.entries(BESIDE).flatMap(([name, kind]) => {
    if (fleet[name as keyof typeof BESIDE] === undefined || fleet[kind] !== undefined) return [];
    const setting = `fleet.${name}`;
    return [{ setting, message: `${setting} is for fleet.${kind}`, dependsOn: [setting, `fleet.${kind}`] }];
  });
}

/** The options of the fleet, with the engine that the settings name; it replaces one in code. */
export function fleetOptionsOf(fleet: FleetSettings): FleetEngineSource | ActuatorFleetOptions {
  if (isEngine(fleet)) return fleet;
  const { redis, postgres, listenUrl, nats, serve, token, ca, ...rest } = fleet;
  const address: EngineAddress = { redis, postgres, listenUrl, nats, serve, token, ca };
  const engine = kindsOf(address).length === 0 ? undefined : fleetEngineAt(address);
  return { ...rest, ...(engine && { engine }) } as ActuatorFleetOptions;
}
