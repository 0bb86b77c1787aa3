import type { Actuator } from "../actuator.ts";
import type { ActuatorOptions } from "../actuator-options.ts";
import { requireNode } from "../common/node-version.ts";
import type { Origin } from "../processes/description.ts";
import { AUTO, CREATED, MADE } from "../processes/hand-over.ts";
import type { Undo } from "./library.ts";
import { type OnLoad, watchLoads } from "./loads.ts";
import type { ManagedApplication } from "./managed-application.ts";
import { part } from "./parts.ts";

/** What runs in a process, for what attaches to it. */
export interface Auto {
  /** Finds libraries that are loaded from now on; made when it is first needed. */
  readonly application: () => ManagedApplication;
}

interface Globals {
  [AUTO]?: Auto | undefined;
  [CREATED]?: (actuator: Actuator, options: ActuatorOptions) => void;
  [MADE]?: { readonly actuator: Actuator; readonly options: ActuatorOptions };
}

/** Begins to look at what this process loads, once; a fault is written to the standard error, and never thrown. */
export function preload(): void {
  try {
    requireNode();
    // Parts of this package are loaded so, between two statements of the application.
    if (!process.features.require_module) throw new Error("this process was started without require() of ES modules");
    begin("preloaded");
  } catch (error) {
    sayInactive(error);
  }
}

function sayInactive(error: unknown): void {
  console.error(`connect-actuator: not active: ${error instanceof Error ? error.message : String(error)}`);
}

/** Begins to look at what this process loads. Returns what runs already, if there is one. */
export function begin(origin: Origin): Auto {
  const globals = globalThis as Globals;
  if (globals[AUTO] !== undefined) return globals[AUTO];
  let application: ManagedApplication | undefined;
  const auto: Auto = {
    application() {
      if (application === undefined) {
        const { ManagedApplication } = part<typeof import("./managed-application.ts")>("auto/managed-application");
        application = new ManagedApplication(origin, end);
      }
      return application;
    },
  };
  const carefully = (tell: (application: ManagedApplication) => void) => {
    try {
      tell(auto.application());
    } catch (error) {
      end();
      sayInactive(error);
    }
  };
  const onCreated: Globals[typeof CREATED] = (actuator, options) =>
    carefully((application) => application.createdExplicitly(actuator, options));
  const stops: Undo[] = [];
  const onLoad: OnLoad = (file, exports, path) => {
    const loaded = () => carefully((application) => application.loaded(file, exports, path));
    if (file.library !== "debug") return loaded();
    // Other packages load it into most processes.
    const { beforeUse } = part<typeof import("./debug-use.ts")>("auto/debug-use");
    stops.push(beforeUse(exports, "init", path, loaded));
  };
  stops.push(watchLoads(onLoad));
  function end(): void {
    for (const stop of stops.splice(0).toReversed()) stop();
    if (globals[AUTO] === auto) delete globals[AUTO];
    if (globals[CREATED] === onCreated) delete globals[CREATED];
  }
  globals[AUTO] = auto;
  globals[CREATED] = onCreated;
  const made = globals[MADE];
  if (made !== undefined) onCreated(made.actuator, made.options);
  // Not while the application starts.
  setImmediate(noticeBundle, auto).unref();
  return auto;
}

function noticeBundle(auto: Auto): void {
  try {
    const libraries = part<typeof import("./bundle.ts")>("auto/bundle").bundledLibraries();
    if (libraries.length > 0) auto.application().foundBundle(libraries);
  } catch {
    // A script that cannot be read is not said to be one.
  }
}
