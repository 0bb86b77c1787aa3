import { type ActuatorOptions, isStore } from "../actuator-options.ts";
import type { Fault } from "../common/error.ts";
import { isEngine } from "../fleet/options.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import { combinationFaults, fileFaults } from "./combination.ts";
import { type EffectiveSetting, effectiveSettings } from "./effective.ts";
import { readEnvironment } from "./environment.ts";
import { configurationError } from "./fault.ts";
import { readConfigurationFile } from "./file.ts";
import { type FleetSettings, fleetOptionsOf } from "./fleet-options.ts";
import { nameOf, SCHEMA, type Tree } from "./schema.ts";
import type { StandaloneOptions } from "./serve-options.ts";
import { type Entry, originText, placeOf } from "./source.ts";

/** The port that the command line calls by default. */
const DEFAULT_PORT = 9001;

/** The sources of a configuration; a later one overrides those before it. */
export interface ConfigurationSources {
  /** The application's own defaults, in code. */
  readonly options?: ActuatorOptions | undefined;
  /** Where the application would listen. */
  readonly listen?: ListenOptions | undefined;
  /** The path of a file of JSON or YAML. Default: none. */
  readonly file?: string | undefined;
  /** The environment, of which `ACTUATOR_…` counts. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** What to create an actuator with. */
export interface Configuration {
  /** For `createActuator`. */
  readonly options: ActuatorOptions;
  /** For `actuator.listen`; port 9001 if no source gives a port or a path. */
  readonly listen: ListenOptions;
  /** Each setting in force with its origin, without secrets: for a log or a page of the application. */
  readonly settings: readonly EffectiveSetting[];
}

/** The configuration of an actuator without an application. */
export interface StandaloneConfiguration extends Configuration {
  readonly standalone: StandaloneOptions;
}

/**
 * Combines the options of an actuator from code, a file and the environment. The file overrides what code passes, and the environment
 * overrides the file, so that an operator can change an application without a new build. Lists are replaced as a whole, sections are
 * merged. `createActuator` itself reads neither files nor the environment.
 *
 * @example
 * ```ts
 * const { options, listen } = configuration({ options: { name: "shop" }, file: process.env.ACTUATOR_CONFIG });
 * await createActuator(options).listen(listen);
 * ```
 *
 * @throws ActuatorError INVALID_ARGUMENT (reason INVALID_CONFIGURATION) with all `faults`, each with its place: unknown settings with the
 *   nearest name, invalid values, unreadable files. No message contains a secret.
 */
export function configuration(sources: ConfigurationSources = {}): Configuration {
  const { standalone: _, ...rest } = configured(sources, { serving: false, files: false });
  return rest;
}

/**
 * As {@link configuration}, to check whether the application could start with it: the files of its settings must exist as well.
 *
 * @throws ActuatorError as {@link configuration}.
 */
export function applicationConfiguration(sources: ConfigurationSources = {}): Configuration {
  return configured(sources, { serving: false, files: true });
}

/**
 * As {@link configuration}, for an actuator without an application: the file and the environment may also set `sessions.store`
 * and `graph`, together they must be enough to serve something, and the files of its settings must exist.
 *
 * @throws ActuatorError as {@link configuration}.
 */
export function standaloneConfiguration(sources: ConfigurationSources = {}): StandaloneConfiguration {
  return configured(sources, { serving: true, files: true });
}

/** What a configuration is checked for. */
interface Purpose {
  readonly serving: boolean;
  readonly files: boolean;
}

function configured(sources: ConfigurationSources, { serving, files }: Purpose): StandaloneConfiguration {
  const { options = {}, listen = {}, file, env = process.env } = sources;
  const readings = [
    ...(file === undefined ? [] : [readConfigurationFile(file, SCHEMA, serving)]),
    readEnvironment(env, SCHEMA, serving),
  ];
  const base = { ...options, listen };
  const entries = readings.map((reading) => reading.entries);
  const { tree: merged, faults } = merge(base, entries);
  // The graph of a sidecar can only be drawn from spans.
  const tree = serving && merged.graph && merged.otlp === undefined ? { ...merged, otlp: true } : merged;
  const known: Fault[] = [...readings.flatMap((reading) => reading.faults), ...faults];
  const parts = serving ? standaloneParts(tree) : applicationParts(tree);
  const settings = effectiveSettings(SCHEMA, tree, base, entries.flat());
  const all: Fault[] = [
    ...known,
    ...combinationFaults({ ...parts, fleet: tree.fleet as FleetSettings | undefined }, known, serving).map(
      ({ setting, message }) => {
        return { at: placeOf(setting, readings, base), message, setting };
      },
    ),
    ...(files ? fileFaults(settings) : []),
  ];
  if (all.length > 0) throw configurationError(all);
  return { ...parts, settings };
}

/** Puts the entries of each source over those before. A setting of a section that is switched off is a fault: it has no effect. */
function merge(base: Tree, sources: readonly (readonly Entry[])[]): { tree: Tree; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  let tree = base;
  for (const entries of sources) {
    tree = withoutRivals(tree, entries);
    // A switch comes before the settings that it switches on.
    for (const entry of [...entries].sort((a, b) => a.setting.at.length - b.setting.at.length)) {
      const changed = withValue(tree, entry.setting.at, entry);
      if (changed !== undefined) tree = changed;
      else {
        const section = entry.setting.at.slice(0, -1).join(".");
        const message = `${nameOf(entry.setting)} has no effect, because ${section} is false`;
        faults.push({ at: originText(entry.origin), message, setting: nameOf(entry.setting) });
      }
    }
  }
  return { tree, faults };
}

/** The tree with a value in its place; undefined if a section on the way is switched off. */
function withValue(tree: Tree, [name, ...rest]: readonly string[], entry: Entry): Tree | undefined {
  const before = tree[name!];
  if (rest.length === 0) {
    // A switch that is on, and an empty section, keep the settings that the section has already.
    const isThere = typeof before === "object" && before !== null;
    const keeps = isThere && (entry.value === true || isEmpty(entry.value));
    return keeps ? tree : { ...tree, [name!]: entry.value };
  }
  if (before === false) return undefined;
  const section = withValue(sectionFrom(before), rest, entry);
  return section && { ...tree, [name!]: section };
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** In code, a section may be `true`, or a store of sessions or an engine of a fleet without options. */
function sectionFrom(value: unknown): Tree {
  if (typeof value !== "object" || value === null) return {};
  if (isEngine(value as never)) return { engine: value };
  return isStore(value as never) ? { store: value } : (value as Tree);
}

/** Two ways to say where to listen, of which an actuator takes one. */
const RIVALS: readonly (readonly [names: readonly string[], rivals: readonly string[]])[] = [
  [["path"], ["port", "host"]],
  [
    ["port", "host"],
    ["path", "mode"],
  ],
];

/**
 * Removes from the tree the other kind of address: a port of the environment replaces a socket of the file. A source that gives both
 * contradicts itself, which is a fault.
 */
function withoutRivals(tree: Tree, entries: readonly Entry[]): Tree {
  const given = new Set(entries.map(({ setting }) => nameOf(setting)));
  const gives = (names: readonly string[]) => names.some((name) => given.has(`listen.${name}`));
  const listen: Record<string, unknown> = { ...(tree.listen as Tree | undefined) };
  for (const [names, rivals] of RIVALS) {
    if (gives(names) && !gives(rivals)) for (const rival of rivals) delete listen[rival];
  }
  return { ...tree, listen };
}

type Parts = Omit<StandaloneConfiguration, "settings">;

function applicationParts(tree: Tree): Parts {
  const { listen: _, ...options } = withFleet(tree);
  return { options, listen: addressIn(tree), standalone: {} };
}

function standaloneParts(tree: Tree): Parts {
  const { listen: _, graph, fleetEngine, sessions, ...rest } = withFleet(tree);
  const { store, ...others } = (sessions ?? {}) as Tree;
  const options = { ...rest, ...(sessions !== undefined && { sessions: others }) } as Tree;
  return {
    options: options as ActuatorOptions,
    listen: addressIn(tree),
    standalone: { store, graph, fleetEngine } as StandaloneOptions,
  };
}

function withFleet({ fleet, ...tree }: Tree): Tree {
  return fleet === undefined ? tree : { ...tree, fleet: fleetOptionsOf(fleet as FleetSettings) };
}

function addressIn({ listen }: Tree): ListenOptions {
  const address = listen as ListenOptions;
  return address.port === undefined && address.path === undefined ? { ...address, port: DEFAULT_PORT } : address;
}
