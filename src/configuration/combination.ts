import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { type AccessOption, mechanismsOf, requiresCredentials } from "../access/options.ts";
import { type ActuatorOptions, OPTIONS } from "../actuator-options.ts";
import { ActuatorError, type Fault } from "../common/error.ts";
import { optionFaults } from "../common/options.ts";
import { requireReachable } from "../operations/spring-boot-admin/announcement.ts";
import { adminNameFaults, type SpringBootAdminOptions } from "../operations/spring-boot-admin/options.ts";
import { listenFaults } from "../server/address.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import type { EffectiveSetting } from "./effective.ts";
import { type FleetSettings, fleetFaults } from "./fleet-options.ts";
import { nameOf, SCHEMA, settingsOf } from "./schema.ts";
import { type StandaloneOptions, standaloneFaults } from "./serve-options.ts";

/** A whole configuration. */
interface Parts {
  readonly options: ActuatorOptions;
  readonly listen: ListenOptions;
  readonly standalone: StandaloneOptions;
  /** As it is set, with the addresses of engines. */
  readonly fleet: FleetSettings | undefined;
}

/** What is wrong with settings together, though each is valid by itself. */
interface Combination {
  readonly setting: string;
  readonly message: string;
  /** The settings that it depends on. Left out: the setting itself. */
  readonly dependsOn?: readonly string[];
}

/**
 * Lists the settings that cannot be combined, except those that depend on a setting which is wrong itself: one mistake is reported once.
 *
 * @param known what is wrong with single settings
 * @param serving whether nothing is added in code
 */
export function combinationFaults(parts: Parts, known: readonly Fault[], serving: boolean): Combination[] {
  const { options, listen, fleet } = parts;
  // A store and a graph are added in code, or by the sidecar.
  const { sessions: _, integrationGraph: __, fleet: ___, ...rest } = options;
  const all: Combination[] = [
    ...optionFaults("", rest, OPTIONS).map(({ field, message }) => ({ setting: field, message })),
    ...listenCombinations(listen, options.access),
    ...adminAddress(options.admin, listen),
    ...(fleet === undefined ? [] : fleetFaults(fleet, { serving, isKept: parts.standalone.fleetEngine === true })),
    ...(serving ? [...adminName(options.admin, options.name), ...standaloneFaults(parts)] : []),
  ];
  const wrong = known.flatMap(({ setting }) => setting ?? []);
  const isOpen = (setting: string) => wrong.some((each) => isWithin(each, setting) || isWithin(setting, each));
  return all.filter(({ setting, dependsOn = [setting] }) => !dependsOn.some(isOpen));
}

function adminName(admin: SpringBootAdminOptions | undefined, name: string | undefined): Combination[] {
  const faults = admin === undefined ? [] : adminNameFaults("admin", admin, name);
  return faults.map(({ field, message }) => ({ setting: field, message, dependsOn: [field, "name"] }));
}

function adminAddress(admin: SpringBootAdminOptions | undefined, listen: ListenOptions): Combination[] {
  try {
    if (admin !== undefined) requireReachable(admin, listen);
    return [];
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    const setting = "admin.managementUrl";
    return [{ setting, message: error.message, dependsOn: [setting, "listen.host", "listen.path"] }];
  }
}

/** By option of `listen`, the settings that a fault of it depends on. */
const LISTENING: Readonly<Record<string, readonly string[]>> = {
  host: ["listen.host", "listen.tls", "access"],
  "tls.cert": ["listen.tls.cert"],
  "tls.key": ["listen.tls.key"],
  "tls.ca": ["listen.tls.ca", "listen.tls.clientCertificate"],
  "tls.clientCertificate": ["listen.tls.ca", "listen.tls.clientCertificate"],
  mode: ["listen.mode", "listen.path"],
};

function listenCombinations(listen: ListenOptions, access: AccessOption | undefined): Combination[] {
  const authenticated = requiresCredentials(mechanismsOf(access));
  return listenFaults(listen, authenticated).map(({ message, metadata }) => {
    const field = metadata.field!;
    const setting = `listen.${field}`;
    return { setting, message: `${setting}: ${message}`, dependsOn: LISTENING[field] ?? [setting] };
  });
}

function isWithin(setting: string, section: string): boolean {
  return section === "" || setting === section || setting.startsWith(`${section}.`);
}

const PATHS = new Map(settingsOf(SCHEMA).map((setting) => [nameOf(setting), setting.path]));

/**
 * Lists the files of settings that cannot be read here, such as tokens, keys and certificates, and files to be written whose folder does
 * not exist: no folder is created.
 */
export function fileFaults(settings: readonly EffectiveSetting[]): Fault[] {
  return settings.flatMap(({ setting, value, from }) => {
    const path = PATHS.get(setting);
    // Addresses, and the contents of files, are not paths.
    if (path === undefined || typeof value !== "string" || /^[a-z][\w+.-]*:\/\/|^</i.test(value)) return [];
    const what = path === "read" ? unreadable(value) : missingFolder(value);
    return what === undefined ? [] : [{ at: from, message: `${setting}: ${what}`, setting }];
  });
}

function unreadable(path: string): string | undefined {
  const code = accessFailure(path, constants.R_OK);
  if (code === undefined) return undefined;
  return code === "ENOENT" ? `there is no file ${path}` : `cannot read (${code}) the file ${path}`;
}

function missingFolder(path: string): string | undefined {
  const folder = dirname(path);
  return accessFailure(folder, constants.F_OK) === undefined ? undefined : `there is no folder ${folder}`;
}

function accessFailure(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}
