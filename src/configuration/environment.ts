import { faultOf } from "../common/options.ts";
import type { Entry } from "./entry.ts";
import { type Fault, SettingFault, settingFault } from "./fault.ts";
import type { Reading } from "./file.ts";
import { WRITINGS } from "./kind.ts";
import { settingsOf } from "./schema.ts";
import { secretFrom } from "./secret.ts";
import { nameOf, type Section, type Setting, standaloneFault, variableOf } from "./setting.ts";
import { meantBy, suggestion } from "./suggestion.ts";

const PREFIX = "ACTUATOR_";
const FILE = "_FILE";

/** What the command line reads by itself: where an actuator is, what lets it in, and where the configuration stands. */
export const OF_THE_COMMAND_LINE: ReadonlySet<string> = new Set([
  "ACTUATOR_URL",
  "ACTUATOR_TOKEN",
  "ACTUATOR_CA",
  "ACTUATOR_CERT",
  "ACTUATOR_KEY",
  "ACTUATOR_CONFIG",
]);

/**
 * What Kubernetes (and Docker's links) put into the environment of every container for a service called `actuator` or
 * `actuator-…`: `ACTUATOR_SERVICE_HOST`, `ACTUATOR_PORT=tcp://…`, `ACTUATOR_PORT_9001_TCP_ADDR`.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const OF_A_SERVICE = /^ACTUATOR_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/**
 * Reads the settings in variables that begin with `ACTUATOR_`. An empty one is as good as none. Nothing is thrown: what is
 * wrong is in `faults`, all of it, and no value of a secret.
 */
export function readEnvironment(env: NodeJS.ProcessEnv, schema: Section, standalone: boolean): Reading {
  const settings = new Map(settingsOf(schema).map((setting) => [variableOf(setting), setting]));
  const entries: Entry[] = [];
  const faults: Fault[] = [];
  for (const [variable, text] of Object.entries(env).sort()) {
    if (!variable.startsWith(PREFIX) || text === undefined || text === "" || isForeign(variable, text)) continue;
    try {
      entries.push(entryOf(variable, text, settings, env, standalone));
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
  if (OF_THE_COMMAND_LINE.has(variable) || OF_A_SERVICE.test(variable)) return true;
  return variable.endsWith("_PORT") && SERVICE_ADDRESS.test(text);
}

/** @throws SettingFault that says what is wrong with the variable. */
function entryOf(
  variable: string,
  text: string,
  settings: ReadonlyMap<string, Setting>,
  env: NodeJS.ProcessEnv,
  standalone: boolean,
): Entry {
  const ofFile = variable.endsWith(FILE) ? settings.get(variable.slice(0, -FILE.length)) : undefined;
  const inFile = !settings.has(variable) && ofFile?.secret !== undefined;
  const setting = inFile ? ofFile! : settings.get(variable);
  if (setting === undefined) {
    const meant = variableMeant(variable, [...settings.keys()]);
    const hint = suggestion(meant, [...settings.keys()]);
    throw new SettingFault(`there is no such setting; ${hint}`, meant && nameOf(settings.get(meant)!));
  }
  if (setting.standalone && !standalone) throw new SettingFault(standaloneFault(setting.at.join(".")));
  if (inFile && env[variableOf(setting)])
    throw new SettingFault(`${variableOf(setting)} is set as well; set one of the two`);
  const written = inFile ? secretFrom(text, undefined) : text;
  const { fromText, expected } = WRITINGS[setting.kind];
  const value = fromText(written);
  if (value === undefined) throw new SettingFault(expected);
  const fault = setting.check(value);
  if (fault !== undefined) throw new SettingFault(fault.startsWith(".") ? faultOf(nameOf(setting), fault) : fault);
  return { setting, value, origin: { from: "environment", variable }, concealed: inFile };
}

/** The variable that was probably meant; `ACTUATOR_PORT` is `ACTUATOR_LISTEN_PORT`. */
function variableMeant(variable: string, names: readonly string[]): string | undefined {
  const end = variable.slice(PREFIX.length - 1);
  return names.find((name) => name.endsWith(end)) ?? meantBy(variable, names);
}
