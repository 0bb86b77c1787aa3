import { ActuatorError } from "../common/error.ts";
import { standaloneFaults } from "../configuration/serve-faults.ts";
import type { StandaloneOptions } from "../configuration/serve-options.ts";
import { type FleetLoggers, fleetLoggers } from "../fleet/index.ts";
import {
  type Actuator,
  type ActuatorOptions,
  createActuator,
  DEFAULT_LIMITS,
  type GraphBuilder,
  integrationGraph,
  type ListenAddress,
  type ListenOptions,
} from "../index.ts";
import type { SessionStore } from "../sessions/store.ts";
import { openStore, storeTrouble } from "./store.ts";

/** What an actuator without an application is made with, as `standaloneConfiguration` reads it. */
export interface StandaloneSettings {
  readonly options: ActuatorOptions;
  readonly listen: ListenOptions;
  readonly standalone: StandaloneOptions;
}

/** An actuator without an application. */
export interface Standalone {
  readonly address: ListenAddress;
  /** What it serves, in words: `sessions (connect-redis)`. */
  readonly serves: readonly string[];
  /** What does not work yet, and may by itself later. */
  readonly troubles: readonly string[];
  /** How long answers under way may hold {@link close} up: milliseconds. */
  readonly drainMs: number;
  /** Ends in good order, see `Actuator.close`; then the connections to stores and instances are closed. */
  close(): Promise<void>;
}

/**
 * Starts an actuator of the sessions in a store, of the graph that services draw over OTLP, and of the loggers of a fleet: of
 * what the configuration says.
 *
 * @throws ActuatorError where there is nothing to serve, where a package is missing or where the address cannot be had. Then
 *   nothing is left open.
 */
export async function startStandalone(settings: StandaloneSettings): Promise<Standalone> {
  const { standalone, options, listen } = settings;
  const faults = standaloneFaults(settings);
  if (faults.length > 0) throw unfit(faults.map(({ message }) => message).join("\n"));
  const store = standalone.store && (await openStore(standalone.store));
  let actuator: Actuator | undefined;
  let fleet: FleetLoggers | undefined;

  async function close(): Promise<void> {
    await actuator?.close();
    if (actuator === undefined) await store?.detach?.();
    await fleet?.close();
  }

  try {
    const trouble = store && (await storeTrouble(store));
    fleet = standalone.fleet && fleetLoggers(standalone.fleet);
    const parts = partsOf(standalone, options, store, fleet);
    actuator = createActuator(parts.options);
    const address = await actuator.listen(listen);
    if (fleet !== undefined) fleet.follow(actuator.loggers!);
    const troubles = trouble === undefined ? [] : [`the store of sessions: ${trouble}`];
    const { drainDelayMs, drainDeadlineMs } = { ...DEFAULT_LIMITS, ...options.limits };
    return { address, serves: parts.serves, troubles, drainMs: drainDelayMs + drainDeadlineMs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function partsOf(
  { graph, fleet: fleetOptions }: StandaloneOptions,
  { sessions, loggers, ...rest }: ActuatorOptions,
  store: SessionStore | undefined,
  fleet: FleetLoggers | undefined,
): { readonly options: ActuatorOptions; readonly serves: readonly string[] } {
  const serves: string[] = [];
  let options: ActuatorOptions = rest;
  if (store !== undefined) {
    serves.push(`sessions (${store.kind})`);
    options = { ...options, sessions: { ...sessions, store } };
  }
  if (fleet !== undefined) {
    const { length } = fleetOptions!.instances;
    serves.push(`the loggers of ${length} ${length === 1 ? "instance" : "instances"}`);
    options = { ...options, loggers: { ...loggers, adapters: [fleet] } };
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
    if (!(error instanceof TypeError)) throw error;
    throw unfit(`graph: ${error.message}`);
  }
}

function unfit(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_CONFIGURATION", message);
}
