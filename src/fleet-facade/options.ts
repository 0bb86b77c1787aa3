import {
  bearerToken,
  type Check,
  type Checks,
  listOf,
  objectOf,
  option,
  shaped,
  text,
  timeLimitMs,
} from "../common/options.ts";

/** An actuator whose loggers are part of the fleet. */
export interface FleetInstance {
  /** The address, such as `http://10.0.0.7:9001`, with the path that the actuator is mounted under. */
  readonly url: string;
  /** Sent as a bearer token. Default: the `token` of the fleet. */
  readonly token?: string | undefined;
  /** The name in warnings. Default: the address. */
  readonly name?: string | undefined;
}

/** The options of `fleetLoggers`. */
export interface FleetOptions {
  /** The actuators: their addresses, or addresses with tokens. At most 200. */
  readonly instances: readonly (string | FleetInstance)[];
  /** Sent to every instance without a token of its own. It needs the permissions loggers:read and loggers:write. */
  readonly token?: string | undefined;
  /** Certificates of authorities in PEM, trusted besides those of Node.js. */
  readonly ca?: string | undefined;
  /** The longest time between two attempts to reach an instance, in milliseconds. Default 10,000. */
  readonly maxReconnectMs?: number | undefined;
  /**
   * How long an instance may be silent before the connection is replaced, in milliseconds; must be more than its `heartbeatMs`.
   * Default 45,000, which is three of its heartbeats.
   */
  readonly silenceMs?: number | undefined;
}

const MAX_INSTANCES = 200;

const address: Check = (value) => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an address such as http://10.0.0.7:9001";
  if (url.username !== "" || url.password !== "") return "must be an address without user and password: give a token";
  return url.search === "" && url.hash === "" ? undefined : "must be an address without ? and #";
};

const INSTANCE = objectOf<FleetInstance>({ url: address, token: bearerToken, name: text });

const instance = shaped({ kind: "text" }, (value) =>
  typeof value === "string" ? address(value) : (INSTANCE(value) ?? address((value as FleetInstance).url)),
);

const INSTANCES_SCHEMA = {
  type: "array",
  minItems: 1,
  items: {
    oneOf: [
      { type: "string" },
      {
        type: "object",
        required: ["url"],
        additionalProperties: false,
        properties: { url: { type: "string" }, token: { type: "string" }, name: { type: "string" } },
      },
    ],
  },
};

/** The checks of {@link FleetOptions}. */
export const FLEET: Checks<FleetOptions> = {
  instances: shaped(
    { kind: "list", of: instance },
    (value) => {
      if (!Array.isArray(value) || value.length === 0) return "must be a list of addresses";
      if (value.length > MAX_INSTANCES) return `must be a list of at most ${MAX_INSTANCES} addresses`;
      const fault = listOf(instance)(value);
      if (fault !== undefined) return fault;
      const urls = value.map((entry) => (typeof entry === "string" ? entry : entry.url).replace(/\/+$/, ""));
      const twice = urls.find((url, index) => urls.indexOf(url) !== index);
      return twice === undefined ? undefined : `has ${twice} twice`;
    },
    { schema: INSTANCES_SCHEMA },
  ),
  token: bearerToken,
  ca: option(text, { secret: true }),
  maxReconnectMs: option(timeLimitMs, { default: 10_000 }),
  silenceMs: option(timeLimitMs, { default: 45_000 }),
};
