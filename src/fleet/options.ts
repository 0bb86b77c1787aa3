import { hostList } from "../common/allowed-hosts.ts";
import {
  bearerToken,
  type Checks,
  codeOnly,
  having,
  httpAddress,
  objectOf,
  oneOf,
  option,
  shaped,
  text,
} from "../common/options.ts";
import type { FleetEngineSource } from "./engine.ts";
import { labelKeyFault, labelValueFault } from "./selector.ts";

/** How an instance takes part in a fleet. */
export interface ActuatorFleetOptions extends FleetOptions {
  /** Where the fleet keeps its levels, such as `redisFleet("redis://127.0.0.1")`. */
  readonly engine: FleetEngineSource;
}

/** How an instance takes part in a fleet, whatever its engine. */
export interface FleetOptions {
  /** The name of the fleet: letters, digits, `_`, `-` and `.`, at most 100. Default: the application's name. */
  readonly name?: string | undefined;
  /** What tells its instances apart, such as `{ zone: "eu" }`. An empty text is not a value; give `"true"` for a label by itself. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * What calls concern that do not say it: this instance, or the whole fleet. Those of REST, and so Spring Boot Admin's, never say it.
   * Default `instance`; of a reader `fleet`.
   */
  readonly scope?: "instance" | "fleet" | undefined;
  /** Whether the instance is one of the fleet, or only reads and changes its levels, and is not listed. Default `member`. */
  readonly role?: "member" | "reader" | undefined;
  /**
   * The address at which the other instances reach this one, such as `http://10.0.0.7:9001`, with the path that it is mounted under.
   * Default: that of the port of `listen`, unless it listens on all addresses.
   */
  readonly address?: string | undefined;
  /** How this instance asks the others, for what only they know. */
  readonly peers?: FleetPeersOptions | undefined;
}

/** How an instance asks the others of its fleet. */
export interface FleetPeersOptions {
  /** Sent as a bearer token, to `hosts` alone. It needs the permissions `loggers:read`, `logs:read` and `graph:read` there. */
  readonly token?: string | undefined;
  /** The hosts that are asked, such as `10.0.0.7` or `*.shop.svc`. Needed with a token. Default: all that the engine names. */
  readonly hosts?: readonly string[] | undefined;
  /** Certificates of authorities in PEM, trusted besides those of Node.js. */
  readonly ca?: string | undefined;
}

const engine = having(["open"], 'an engine, such as redisFleet("redis://127.0.0.1")');

/** The checks of {@link FleetPeersOptions}. */
export const PEERS: Checks<FleetPeersOptions> = {
  token: bearerToken,
  hosts: hostList("10.0.0.7"),
  ca: option(text, { secret: true }),
};

/** The checks of {@link FleetOptions}. */
export const FLEET: Checks<FleetOptions> = {
  name: option(
    shaped({ kind: "text" }, (value) =>
      typeof value === "string" && isFleetName(value)
        ? undefined
        : 'must have 1 to 100 letters, digits, "_", "-" and "."',
    ),
    {},
  ),
  labels: shaped({ kind: "texts" }, (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return 'must be an object such as { zone: "eu" }';
    for (const [key, label] of Object.entries(value)) {
      const fault = labelKeyFault(key) ?? text(label) ?? labelValueFault(label);
      if (fault !== undefined) return `has an entry that does not fit: ${key}: ${fault}`;
    }
    return undefined;
  }),
  scope: oneOf("instance", "fleet"),
  role: codeOnly(oneOf("member", "reader")),
  address: httpAddress,
  peers: objectOf(PEERS, ({ token, hosts }) =>
    token !== undefined && hosts === undefined
      ? "has a token, and so needs hosts: those that it may be sent to"
      : undefined,
  ),
};

/** The checks of {@link ActuatorFleetOptions}. */
export const ACTUATOR_FLEET: Checks<ActuatorFleetOptions> = { engine, ...FLEET };

/** Whether this can be the name of a fleet. */
export function isFleetName(name: string): boolean {
  return /^[\w.-]{1,100}$/.test(name);
}

/** The options of a fleet of which only the engine may be given. */
export function fleetOptions(fleet: FleetEngineSource | ActuatorFleetOptions): ActuatorFleetOptions {
  return isEngine(fleet) ? { engine: fleet } : fleet;
}

/** Tells an engine from an engine with options. */
export function isEngine(fleet: FleetEngineSource | object): fleet is FleetEngineSource {
  return "open" in fleet;
}
