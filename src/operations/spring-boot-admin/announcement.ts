import { ActuatorError } from "../../common/error.ts";
import type { ListenAddress } from "../../server/address.ts";
import type { Application } from "../health/application.ts";
import type { SpringBootAdminOptions } from "./options.ts";

/** Where the actuator is served. */
export interface ServedAt {
  readonly address: ListenAddress;
  /** Such as `/actuator`. */
  readonly basePath: string;
}

/** The registration that is sent to a server. Its keys are those of the server. */
export interface Announcement {
  readonly name: string;
  readonly managementUrl: string;
  readonly healthUrl: string;
  readonly serviceUrl: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * What to tell of an application that is served here; undefined: on a server of its own. Spring Boot Admin looks for endpoints
 * anew when it changes, and so it says when the application started.
 *
 * @throws ActuatorError FAILED_PRECONDITION if the server could not reach the address that is listened on.
 */
export function announcementOf(
  options: SpringBootAdminOptions,
  application: Application,
  served: ServedAt | undefined,
): Announcement {
  const managementUrl = options.managementUrl?.replace(/\/+$/, "") ?? reachableUrl(served);
  const { credentials } = options;
  return {
    name: options.name ?? application.name ?? "",
    managementUrl,
    healthUrl: options.healthUrl ?? `${managementUrl}/health`,
    serviceUrl: options.serviceUrl ?? `${new URL(managementUrl).origin}/`,
    metadata: {
      ...(application.version === undefined ? {} : { version: application.version }),
      ...options.metadata,
      startup: new Date(application.startTime).toISOString(),
      ...(credentials && { "user.name": credentials.username, "user.password": credentials.password }),
    },
  };
}

/**
 * Refuses, before a port is opened, an address that no server could be told.
 *
 * @param listen what is going to be listened on
 * @throws ActuatorError FAILED_PRECONDITION
 */
export function requireReachable(
  { managementUrl }: Pick<SpringBootAdminOptions, "managementUrl">,
  { host, path }: { readonly host?: string | undefined; readonly path?: string | undefined },
): void {
  if (managementUrl !== undefined) return;
  if (path !== undefined) throw unreachable(`a Unix socket, ${path}, cannot be called from elsewhere`);
  if (WILDCARD.test(host ?? ""))
    throw unreachable(`${host} stands for every address of this machine and cannot be called`);
}

const WILDCARD = /^\[?(0|0\.0\.0\.0|::|(0*:)+0*|::ffff:0\.0\.0\.0)\]?$/;

function reachableUrl(served: ServedAt | undefined): string {
  if (served === undefined) throw unreachable("it is served by the application, whose address it does not know");
  const { address, port, url } = served.address;
  requireReachable({}, port === 0 ? { path: address } : { host: address });
  return url + served.basePath;
}

function unreachable(why: string): ActuatorError {
  const message =
    `Spring Boot Admin would not find this actuator: ${why}. ` +
    "Say in `admin.managementUrl` where it does, such as http://10.0.0.7:9001/actuator";
  return new ActuatorError("FAILED_PRECONDITION", "MANAGEMENT_URL_NEEDED", message, { field: "admin.managementUrl" });
}
