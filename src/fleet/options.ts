import { type Checks, having, option, shaped, text } from "../common/options.ts";
import type { FleetEngineSource } from "./engine.ts";
import { labelKeyFault, labelValueFault } from "./selector.ts";

/** How an instance takes part in a fleet. */
export interface ActuatorFleetOptions {
  /** Where the fleet keeps its levels, such as `redisFleet("redis://127.0.0.1")`. */
  readonly engine: FleetEngineSource;
  /** The name of the fleet: letters, digits, `_`, `-` and `.`, at most 100. Default: the application's name. */
  readonly name?: string | undefined;
  /** What tells its instances apart, such as `{ zone: "eu" }`. An empty text is not a value; give `"true"` for a label by itself. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

const engine = having(["open"], 'an engine, such as redisFleet("redis://127.0.0.1")');

/** The checks of {@link ActuatorFleetOptions}. */
export const FLEET: Checks<ActuatorFleetOptions> = {
  engine,
  name: option(
    shaped({ kind: "text" }, (value) =>
      typeof value === "string" && isFleetName(value)
        ? undefined
        : 'must have 1 to 100 letters, digits, "_", "-" and "."',
    ),
    {},
  ),
  labels: shaped({ kind: "code" }, (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return 'must be an object such as { zone: "eu" }';
    for (const [key, label] of Object.entries(value)) {
      const fault = labelKeyFault(key) ?? text(label) ?? labelValueFault(label);
      if (fault !== undefined) return `has an entry that does not fit: ${key}: ${fault}`;
    }
    return undefined;
  }),
};

/** Whether this can be the name of a fleet. */
export function isFleetName(name: string): boolean {
  return /^[\w.-]{1,100}$/.test(name);
}

/** Tells an engine from an engine with options. */
export function isEngine(fleet: FleetEngineSource | ActuatorFleetOptions): fleet is FleetEngineSource {
  return "open" in fleet;
}
