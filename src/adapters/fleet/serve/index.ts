import { bearerToken, type Checks, checkOptions, httpAddress, option, text } from "../../../common/options.ts";
import type { FleetEngineSource } from "../../../fleet/engine.ts";
import { ServeEngine } from "./engine.ts";
import type { ServeFleetOptions } from "./options.ts";

export type { ServeFleetOptions };

const OPTIONS: Checks<ServeFleetOptions> = { url: httpAddress, token: bearerToken, ca: option(text, { secret: true }) };

/**
 * Keeps what a fleet has in common in one process of connect-actuator: `connect-actuator serve` with `fleetEngine`, or an application with
 * the option `fleetEngine`. It keeps it in memory: after a restart of that process, the instances write it back.
 *
 * Each instance has two connections, which do not keep the process alive.
 *
 * @param urlOrOptions `http://` or `https://` and the address, or options
 * @throws ActuatorError INVALID_ARGUMENT for anything else
 * @example
 * ```ts
 * const engine = serveFleet({ url: "http://10.0.0.7:9001", token: "ca_…" });
 * ```
 */
export function serveFleet(urlOrOptions: string | ServeFleetOptions): FleetEngineSource {
  const options = typeof urlOrOptions === "string" ? { url: urlOrOptions } : urlOrOptions;
  checkOptions("serveFleet", options, OPTIONS);
  return { kind: "serve", open: (fleet) => new ServeEngine(fleet, options) };
}
