import type { AccessOptions } from "../access/options.ts";
import { type ActuatorOptions, OPTIONS } from "../actuator-options.ts";
import { ActuatorError } from "../common/error.ts";
import { optionFaults } from "../common/options.ts";
import { requireReachable } from "../operations/spring-boot-admin/announcement.ts";
import { adminNameFaults, type SpringBootAdminOptions } from "../operations/spring-boot-admin/options.ts";
import { listenFaults } from "../server/address.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import type { Fault } from "./fault.ts";
import { standaloneFaults } from "./serve-faults.ts";
import type { StandaloneOptions } from "./serve-options.ts";

/** All that is said. */
interface Said {
  readonly options: ActuatorOptions;
  readonly listen: ListenOptions;
  readonly standalone: StandaloneOptions;
}

/** What is wrong with settings together, though each may be fit by itself. */
interface Combination {
  readonly setting: string;
  readonly message: string;
  /** The settings that it depends on. Left out: the setting itself. */
  readonly dependsOn?: readonly string[];
}

/**
 * What cannot be together in a configuration, but for what depends on a setting that is wrong itself: it would only be reported
 * twice.
 *
 * @param known what is wrong with single settings
 * @param standalone whether code adds nothing to it
 */
export function combinationFaults(configuration: Said, known: readonly Fault[], standalone: boolean): Combination[] {
  const { options, listen } = configuration;
  // A store and a graph are added in code, or by the sidecar.
  const { sessions: _, integrationGraph: __, ...rest } = options;
  const all: Combination[] = [
    ...ofOptions(rest),
    ...ofListening(listen, options.access),
    ...ofAnnouncing(options.admin, listen),
    ...(standalone ? [...ofAdmin(options.admin, options.name), ...standaloneFaults(configuration)] : []),
  ];
  const wrong = known.flatMap(({ setting }) => setting ?? []);
  const isOpen = (setting: string) => wrong.some((each) => isWithin(each, setting) || isWithin(setting, each));
  return all.filter(({ setting, dependsOn = [setting] }) => !dependsOn.some(isOpen));
}

function ofOptions(options: object): Combination[] {
  return optionFaults("", options, OPTIONS).map(({ field, message }) => ({
    setting: field.slice(1),
    message: message.replace(/^[. ]/, ""),
  }));
}

function ofAdmin(admin: SpringBootAdminOptions | undefined, name: string | undefined): Combination[] {
  const faults = admin === undefined ? [] : adminNameFaults("admin", admin, name);
  return faults.map(({ field, message }) => ({ setting: field, message, dependsOn: [field, "name"] }));
}

function ofAnnouncing(admin: SpringBootAdminOptions | undefined, listen: ListenOptions): Combination[] {
  try {
    if (admin !== undefined) requireReachable(admin, listen);
    return [];
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    const setting = "admin.managementUrl";
    return [{ setting, message: error.message, dependsOn: [setting, "listen.host", "listen.path"] }];
  }
}

/** By option of listening, what a fault of it depends on. */
const LISTENING: Readonly<Record<string, readonly string[]>> = {
  host: ["listen.host", "listen.tls", "access"],
  "tls.cert": ["listen.tls.cert"],
  "tls.key": ["listen.tls.key"],
  "tls.ca": ["listen.tls.ca", "listen.tls.clientCertificate"],
  "tls.clientCertificate": ["listen.tls.ca", "listen.tls.clientCertificate"],
  mode: ["listen.mode", "listen.path"],
};

function ofListening(listen: ListenOptions, access: AccessOptions | undefined): Combination[] {
  const { tokens, jwt, certificates, authorize } = access ?? {};
  const authenticated = (tokens ?? jwt ?? certificates ?? authorize) !== undefined;
  return listenFaults(listen, authenticated).map(({ message, metadata }) => {
    const field = metadata.field!;
    const setting = `listen.${field}`;
    return { setting, message: `${setting}: ${message}`, dependsOn: LISTENING[field] ?? [setting] };
  });
}

function isWithin(setting: string, section: string): boolean {
  return section === "" || setting === section || setting.startsWith(`${section}.`);
}
