import type { StandaloneOptions, StoreOptions } from "./serve-options.ts";

/** Why a sidecar cannot be made of settings that are fit one by one. */
export interface StandaloneFault {
  /** Such as `sessions.store`; empty: the configuration as a whole. */
  readonly setting: string;
  readonly message: string;
  /** The settings that make it so. Left out: the setting itself. */
  readonly dependsOn?: readonly string[];
}

type Named = readonly (keyof StoreOptions)[];

/** By where sessions are and who writes them, what else can be said of them. */
const TAKEN: Readonly<Record<"redis" | "postgres", Readonly<Record<"connect" | "spring", Named>>>> = {
  redis: { connect: ["prefix", "ttlMs", "principal", "index"], spring: ["namespace", "indexed"] },
  postgres: { connect: ["table", "schema", "timeZone", "ttlMs", "principal"], spring: ["table", "schema"] },
};

/** All that a sidecar cannot be made of: sentences with the names of the settings. */
export function standaloneFaults(settings: {
  readonly standalone: StandaloneOptions;
  readonly options: { readonly sessions?: object | undefined; readonly loggers?: unknown; readonly otlp?: unknown };
}): StandaloneFault[] {
  const { store, fleet, graph } = settings.standalone;
  const { sessions, loggers, otlp } = settings.options;
  const faults = store === undefined ? [] : storeFaults(store);
  if (fleet !== undefined && fleet.instances === undefined) {
    faults.push({ setting: "fleet", message: "fleet has no instances", dependsOn: ["fleet.instances"] });
  }
  if (sessions !== undefined && store === undefined && Object.keys(sessions).length > 0) {
    const message = "sessions has no store: say sessions.store.redis or sessions.store.postgres";
    faults.push({ setting: "sessions", message, dependsOn: ["sessions.store"] });
  }
  if (loggers !== undefined && fleet === undefined) {
    const message = "loggers are those of a fleet here: say fleet.instances";
    faults.push({ setting: "loggers", message, dependsOn: ["fleet"] });
  }
  if (otlp && graph === false) {
    faults.push({ setting: "otlp", message: "otlp has no graph to draw into: graph is false" });
  }
  const isEmpty = store === undefined && fleet === undefined && !graph && !otlp;
  if (faults.length > 0 || !isEmpty) return faults;
  const message =
    "there is nothing to serve: say sessions.store, graph or fleet (connect-actuator config schema lists all)";
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
