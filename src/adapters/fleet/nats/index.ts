import { ActuatorError } from "../../../common/error.ts";
import type { FleetEngineSource } from "../../../fleet/engine.ts";
import { NatsEngine } from "./engine.ts";
import { dial } from "./link.ts";
import type { NatsFleetOptions } from "./options.ts";

export type { NatsFleetOptions } from "./options.ts";

/**
 * Keeps what a fleet has in common in NATS 2.9 or later with JetStream.
 *
 * Each instance has one connection of its own, which does not keep the process alive, through the packages `@nats-io/transport-node`,
 * `@nats-io/jetstream` and `@nats-io/kv` 3. It makes the buckets of the fleet if they are missing; make them beforehand to give them
 * other properties, such as replicas. A fleet may be as large as a message of the server: by default 1 MB.
 *
 * The options that concern reconnecting, pings, timeouts and echo are not used: a connection that fails is replaced.
 *
 * @param urlOrOptions the address of a server such as `nats://127.0.0.1:4222`, with user and password or a token if it needs them,
 *   several of them, or the options of `connect()`; `tls://` refuses a server without TLS
 * @throws ActuatorError INVALID_ARGUMENT for anything else
 * @example
 * ```ts
 * const engine = natsFleet("nats://127.0.0.1:4222");
 * ```
 */
export function natsFleet(urlOrOptions: string | readonly string[] | NatsFleetOptions): FleetEngineSource {
  const options = optionsOf(urlOrOptions);
  return { kind: "nats", open: (fleet) => new NatsEngine(fleet, (use) => dial(options, use)) };
}

function optionsOf(given: string | readonly string[] | NatsFleetOptions): NatsFleetOptions {
  // A connection would be taken for options without servers.
  if ((typeof given !== "string" && typeof given !== "object") || given === null || "publish" in Object(given)) {
    throw invalid();
  }
  const options: NatsFleetOptions = typeof given === "string" || isList(given) ? { servers: [given].flat() } : given;
  if (options.servers === undefined) return options;
  const addresses = [options.servers].flat().map(addressOf);
  if (addresses.length === 0) throw invalid();
  const credentials = addresses.find((address) => address.credentials !== undefined)?.credentials;
  const tls = addresses.some(({ isTls }) => isTls) ? { tls: {} } : undefined;
  return { ...credentials, ...tls, ...options, servers: addresses.map(({ server }) => server) };
}

function isList(given: readonly string[] | NatsFleetOptions): given is readonly string[] {
  return Array.isArray(given);
}

interface Address {
  readonly server: string;
  readonly isTls: boolean;
  readonly credentials: { readonly user: string; readonly pass: string } | { readonly token: string } | undefined;
}

/** The client ignores the protocol and the credentials in addresses. */
function addressOf(given: unknown): Address {
  if (typeof given !== "string") throw invalid();
  const address = given.includes("://") ? given : `nats://${given}`;
  if (!/^(nats|tls):\/\/[^/]/.test(address) || !URL.canParse(address)) throw invalid();
  const { protocol, hostname, port, username, password } = new URL(address);
  const server = `${hostname}:${port || 4222}`;
  const isTls = protocol === "tls:";
  if (username === "") return { server, isTls, credentials: undefined };
  const user = decoded(username);
  return { server, isTls, credentials: password === "" ? { token: user } : { user, pass: decoded(password) } };
}

/** As it stands, if it has a `%` that escapes nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function invalid(): ActuatorError {
  // The message does not show what was given: it may hold a password.
  const message =
    'natsFleet takes addresses such as "nats://127.0.0.1:4222", or the options of connect() of "@nats-io/transport-node".';
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message);
}
