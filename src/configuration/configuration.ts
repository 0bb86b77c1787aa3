import type { ActuatorOptions } from "../actuator-options.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import { assembled } from "./assembly.ts";
import { combinationFaults } from "./combination.ts";
import { effective, type Shown } from "./effective.ts";
import { readEnvironment } from "./environment.ts";
import { ConfigurationError, type Fault } from "./fault.ts";
import { readConfigurationFile } from "./file.ts";
import { fileFaults } from "./file-faults.ts";
import { DEFAULT_PORT } from "./notes/listen.ts";
import { SCHEMA } from "./notes/root.ts";
import { placeOf } from "./place.ts";
import type { StandaloneOptions } from "./serve-options.ts";
import type { Tree } from "./tree.ts";

/** Where a configuration comes from. What stands further down wins. */
export interface ConfigurationSources {
  /** What the application says in code: its own defaults. */
  readonly options?: ActuatorOptions | undefined;
  /** Where the application would listen. */
  readonly listen?: ListenOptions | undefined;
  /** The path of a file of JSON, whose settings win over the options. Default: none. */
  readonly file?: string | undefined;
  /** The environment, whose `ACTUATOR_…` win over the file. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** What an actuator is to be made with. */
export interface Configuration {
  /** For `createActuator`. */
  readonly options: ActuatorOptions;
  /** For `actuator.listen`; on port 9001 where nobody says a port or a path. */
  readonly listen: ListenOptions;
  /** Each setting in force with who said it, without secrets: for a log or a page of the application's own. */
  readonly settings: readonly Shown[];
}

/** The configuration of an actuator without an application. */
export interface StandaloneConfiguration extends Configuration {
  readonly standalone: StandaloneOptions;
}

/**
 * Puts the options of an actuator together from code, a file and the environment. What code passes is the default, the file
 * overrides it and the environment overrides the file: whoever operates the application wins, without a new build of it.
 * Lists are replaced as a whole, sections are merged.
 *
 * `createActuator` reads neither files nor the environment by itself: this is the call that does.
 *
 * @throws ConfigurationError (INVALID_ARGUMENT) with every fault there is, each with its place: settings that do not exist,
 *   with the one that was probably meant; values that do not fit; files that cannot be read. Secrets are in none of them.
 */
export function configuration(sources: ConfigurationSources = {}): Configuration {
  const { standalone: _, ...rest } = configured(sources, { standalone: false, files: false });
  return rest;
}

/**
 * As {@link configuration}, for whoever asks whether the application could start with it: the files that settings name have to be
 * there as well.
 *
 * @throws ConfigurationError as {@link configuration}.
 */
export function applicationConfiguration(sources: ConfigurationSources = {}): Configuration {
  return configured(sources, { standalone: false, files: true });
}

/**
 * As {@link configuration}, for an actuator without an application: the file and the environment may also say `sessions.store`,
 * `graph` and `fleet`, all that they say together has to be enough, and the files that settings name have to be there.
 *
 * @throws ConfigurationError as {@link configuration}.
 */
export function standaloneConfiguration(sources: ConfigurationSources = {}): StandaloneConfiguration {
  return configured(sources, { standalone: true, files: true });
}

/** What a configuration has to be fit for. */
interface Purpose {
  readonly standalone: boolean;
  readonly files: boolean;
}

function configured(sources: ConfigurationSources, { standalone, files }: Purpose): StandaloneConfiguration {
  const { options = {}, listen = {}, file, env = process.env } = sources;
  const readings = [
    ...(file === undefined ? [] : [readConfigurationFile(file, SCHEMA, standalone)]),
    readEnvironment(env, SCHEMA, standalone),
  ];
  const base = { ...options, listen };
  const entries = readings.map((reading) => reading.entries);
  const { tree: said, faults } = assembled(base, entries);
  // A sidecar's graph has nothing but spans to be drawn from.
  const tree = standalone && said.graph && said.otlp === undefined ? { ...said, otlp: true } : said;
  const known: Fault[] = [...readings.flatMap((reading) => reading.faults), ...faults];
  const parts = standalone ? standaloneParts(tree) : applicationParts(tree);
  const settings = effective(SCHEMA, tree, base, entries.flat());
  const all: Fault[] = [
    ...known,
    ...combinationFaults(parts, known, standalone).map(({ setting, message }) => {
      return { at: placeOf(setting, readings, base), message, setting };
    }),
    ...(files ? fileFaults(settings) : []),
  ];
  if (all.length > 0) throw new ConfigurationError(all);
  return { ...parts, settings };
}

type Parts = Omit<StandaloneConfiguration, "settings">;

function applicationParts(tree: Tree): Parts {
  const { listen: _, ...options } = tree;
  return { options, listen: whereIn(tree), standalone: {} };
}

function standaloneParts(tree: Tree): Parts {
  const { listen: _, graph, fleet, sessions, ...rest } = tree;
  const { store, ...shown } = (sessions ?? {}) as Tree;
  const options = { ...rest, ...(sessions !== undefined && { sessions: shown }) } as Tree;
  return {
    options: options as ActuatorOptions,
    listen: whereIn(tree),
    standalone: { store, graph, fleet } as StandaloneOptions,
  };
}

/** Where to listen; the port that the command line calls where nobody says a place. */
function whereIn({ listen }: Tree): ListenOptions {
  const where = listen as ListenOptions;
  return where.port === undefined && where.path === undefined ? { ...where, port: DEFAULT_PORT } : where;
}
