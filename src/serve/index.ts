import { ActuatorError } from "../common/error.ts";
import { type StandaloneOptions, standaloneFaults } from "../configuration/serve-options.ts";
import { fleetOptions } from "../fleet/options.ts";
import {
  type Actuator,
  type ActuatorOptions,
  createActuator,
  DEFAULT_LIMITS,
  type GraphBuilder,
  integrationGraph,
  type ListenAddress,
  type ListenOptions,
  memoryFleet,
} from "../index.ts";
import type { SessionStore } from "../sessions/store.ts";
import { openSessionStore, sessionStoreFault } from "./session-store.ts";

/** The configuration of an actuator without an application, as `standaloneConfiguration` reads it. */
export interface StandaloneSettings {
  readonly options: ActuatorOptions;
  readonly listen: ListenOptions;
  readonly standalone: StandaloneOptions;
}

/** A running actuator without an application. */
export interface StandaloneActuator {
  readonly address: ListenAddress;
  /** Descriptions of what it serves, such as `sessions (connect-redis)`. */
  readonly serves: readonly string[];
  /** What does not work yet but may work later, such as a store that does not answer. */
  readonly warnings: readonly string[];
  /** How long {@link close} may wait for open requests, in milliseconds. */
  readonly drainMs: number;
  /** Closes the actuator as `Actuator.close` does, then the connections to stores. */
  close(): Promise<void>;
}

/**
 * Starts an actuator without an application, for what the configuration names: the sessions in a store, a graph from OTLP traces, a
 * fleet, which it reads and changes without being one of its instances.
 *
 * @throws ActuatorError if there is nothing to serve, a package is missing or it cannot listen on the address. Nothing stays open.
 */
export async function startStandaloneActuator(settings: StandaloneSettings): Promise<StandaloneActuator> {
  const { standalone, options, listen } = settings;
  const faults = standaloneFaults(settings);
  if (faults.length > 0) throw invalid(faults.map(({ message }) => message).join("\n"));
  const store = standalone.store && (await openSessionStore(standalone.store));
  let actuator: Actuator | undefined;

  async function close(): Promise<void> {
    await actuator?.close();
    if (actuator === undefined) await store?.detach?.();
  }

  try {
    const fault = store && (await sessionStoreFault(store));
    const parts = partsOf(standalone, options, store);
    actuator = createActuator(parts.options);
    const address = await actuator.listen(listen);
    const warnings = fault === undefined ? [] : [`the session store: ${fault}`];
    const { drainDelayMs, drainDeadlineMs } = { ...DEFAULT_LIMITS, ...options.limits };
    return { address, serves: parts.serves, warnings, drainMs: drainDelayMs + drainDeadlineMs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function partsOf(
  { graph, fleetEngine }: StandaloneOptions,
  { sessions, loggers, fleet, ...rest }: ActuatorOptions,
  store: SessionStore | undefined,
): { readonly options: ActuatorOptions; readonly serves: readonly string[] } {
  const serves: string[] = [];
  let options: ActuatorOptions = rest;
  if (store !== undefined) {
    serves.push(`sessions (${store.kind})`);
    options = { ...options, sessions: { ...sessions, store } };
  }
  const registers = fleetEngine ? memoryFleet() : undefined;
  if (registers !== undefined) {
    serves.push("fleets, in memory");
    options = { ...options, fleetEngine: registers };
  }
  if (fleet !== undefined) {
    const given = fleetOptions(fleet);
    // That of its own is asked directly.
    const read = { ...given, engine: given.engine ?? registers! };
    serves.push(`the fleet ${read.name ?? rest.name} (${read.engine.kind})`);
    // It has no loggers of its own: they show the levels that the fleet has.
    const name = rest.name ?? read.name;
    options = { ...options, name, loggers: { ...loggers }, fleet: { ...read, role: "reader" } };
  }
  if (graph || rest.otlp) {
    serves.push("an integration graph over OTLP");
    options = { ...options, otlp: rest.otlp ?? true, integrationGraph: graphOf(graph, rest.name) };
  }
  return { options, serves };
}

function graphOf(graph: StandaloneOptions["graph"], name = "connect-actuator"): GraphBuilder {
  const { app = name, brokers } = typeof graph === "object" ? graph : {};
  try {
    return integrationGraph({ app, brokers });
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    throw invalid(`graph: ${error.message}`);
  }
}

function invalid(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_CONFIGURATION", message);
}
