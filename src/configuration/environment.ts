import type { Fault } from "../common/error.ts";
import { faultOf } from "../common/options.ts";
import { nearest } from "../common/suggestion.ts";
import { SettingFault, settingFault } from "./fault.ts";
import { nameOf, type Section, type Setting, serveOnlyFault, settingsOf, variableOf, WRITINGS } from "./schema.ts";
import { secretFrom } from "./secret.ts";
import type { Entry, Reading } from "./source.ts";

const PREFIX = "ACTUATOR_";
const FILE = "_FILE";

/** The variables of the command line: the address of an actuator, credentials, and the configuration file. */
export const COMMAND_LINE_VARIABLES: ReadonlySet<string> = new Set([
  "ACTUATOR_URL",
  "ACTUATOR_TOKEN",
  "ACTUATOR_CA",
  "ACTUATOR_CERT",
  "ACTUATOR_KEY",
  "ACTUATOR_CONFIG",
]);

/**
 * The variables that Kubernetes and Docker's links put into every container for a service named `actuator` or `actuator-…`: `ACTUATOR_SERVICE_HOST`, `ACTUATOR_PORT=tcp://…`, `ACTUATOR_PORT_9001_TCP_ADDR`.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const SERVICE_VARIABLE =
  /^ACTUATOR_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/**
 * Reads the settings in variables that begin with `ACTUATOR_`. An empty one counts as not set. It does not throw: everything that is
 * wrong is in `faults`, without values of secrets.
 */
export function readEnvironment(env: NodeJS.ProcessEnv, schema: Section, serving: boolean): Reading {
  const settings = new Map(settingsOf(schema).map((setting) => [variableOf(setting), setting]));
  const entries: Entry[] = [];
  const faults: Fault[] = [];
  for (const [variable, text] of Object.entries(env).sort()) {
    if (!variable.startsWith(PREFIX) || text === undefined || text === "" || isForeign(variable, text)) continue;
    try {
      entries.push(entryOf(variable, text, settings, env, serving));
    } catch (error) {
      const setting = settings.get(variable) ?? settings.get(variable.slice(0, -FILE.length));
      faults.push(settingFault(error, variable, setting && nameOf(setting)));
    }
  }
  return { entries, faults, placeOfSection: (path) => variableWithin(path, entries) };
}

function variableWithin(path: string, entries: readonly Entry[]): string | undefined {
  const entry = entries.find(({ setting }) => nameOf(setting).startsWith(`${path}.`));
  return entry && variableOf(entry.setting);
}

function isForeign(variable: string, text: string): boolean {
  if (COMMAND_LINE_VARIABLES.has(variable) || SERVICE_VARIABLE.test(variable)) return true;
  return variable.endsWith("_PORT") && SERVICE_ADDRESS.test(text);
}

/** @throws SettingFault that says what is wrong with the variable. */
function entryOf(
  variable: string,
  text: string,
  settings: ReadonlyMap<string, Setting>,
  env: NodeJS.ProcessEnv,
  serving: boolean,
): Entry {
  const ofFile = variable.endsWith(FILE) ? settings.get(variable.slice(0, -FILE.length)) : undefined;
  const inFile = !settings.has(variable) && ofFile?.secret !== undefined;
  const setting = inFile ? ofFile! : settings.get(variable);
  if (setting === undefined) {
    const meant = variableMeant(variable, [...settings.keys()]);
    const hint = meant === undefined ? "connect-actuator config schema lists all" : `did you mean "${meant}"?`;
    throw new SettingFault(`Unknown setting; ${hint}`, meant && nameOf(settings.get(meant)!));
  }
  if (setting.serveOnly && !serving) throw new SettingFault(serveOnlyFault(nameOf(setting)));
  if (inFile && env[variableOf(setting)])
    throw new SettingFault(`${variableOf(setting)} is set as well; set only one of the two`);
  const written = inFile ? secretFrom(text, undefined) : text;
  const { fromText, expected } = WRITINGS[setting.kind];
  const value = fromText(written);
  if (value === undefined) throw new SettingFault(expected);
  const fault = setting.check(value);
  if (fault !== undefined) throw new SettingFault(fault.startsWith(".") ? faultOf(nameOf(setting), fault) : fault);
  return { setting, value, origin: { from: "environment", variable }, concealed: inFile };
}

/** The variable that was probably meant: `ACTUATOR_LISTEN_PORT` by `ACTUATOR_PORT`. */
function variableMeant(variable: string, names: readonly string[]): string | undefined {
  const end = variable.slice(PREFIX.length - 1);
  return names.find((name) => name.endsWith(end)) ?? nearest(variable, names);
}
