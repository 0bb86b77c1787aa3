import {
  type Check,
  type Checks,
  faultsWithin,
  flag,
  listOf,
  type OptionFault,
  objectOf,
  option,
  pem,
  refuseFaults,
  shaped,
  text,
  textOrTexts,
  timeLimitMs,
  timerMs,
} from "../../common/options.ts";
import { isRecord } from "../../common/record.ts";

/** The Spring Boot Admin servers that an application registers with, and what it sends to them. */
export interface SpringBootAdminOptions {
  /**
   * The address of the server, with its context path if it has one, such as `https://admin.example.com`; or several.
   */
  readonly url: string | readonly string[];
  /** The name that the server shows. Instances of one application share it. Default: the application's name. */
  readonly name?: string | undefined;
  /**
   * Where the server finds the actuator, such as `http://10.0.0.7:9001/actuator`. Default: the address of the listener.
   * Required if the actuator listens on a wildcard address or a Unix socket; needed if the server is behind a proxy or in
   * another network.
   */
  readonly managementUrl?: string | undefined;
  /** A link to the application itself, for users of the server's pages. Default: the origin of `managementUrl`. */
  readonly serviceUrl?: string | undefined;
  /**
   * Where the server reads the status. The id of the instance is derived from it. Default: `managementUrl` and `/health`.
   */
  readonly healthUrl?: string | undefined;
  /** The user name of the registration (Basic), if the server requires authentication. Requires `password`. */
  readonly username?: string | undefined;
  /** The password of `username`. */
  readonly password?: string | undefined;
  /** What the server sends to the actuator to authenticate. */
  readonly credentials?: CallCredentials | undefined;
  /** What the server shows about the instance. Strings only, such as `{ "tags.environment": "production" }`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** How often the registration is renewed, in milliseconds, from 100. Default 10,000. */
  readonly intervalMs?: number | undefined;
  /** How long one request may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether closing the actuator ends the registration. If false, the server shows the instance as offline. Default true.
   */
  readonly deregister?: boolean | undefined;
  /** How long closing the actuator waits for the end of the registration at most, in milliseconds. Default 2,000. */
  readonly deregisterTimeoutMs?: number | undefined;
  /**
   * Whether registering with the first of several servers that answers is enough, because the servers share their state.
   * Default false.
   */
  readonly registerOnce?: boolean | undefined;
  /** How the certificates of `https:` servers are verified. */
  readonly tls?: AdminTlsOptions | undefined;
}

/**
 * The credentials that a Spring Boot Admin server sends to the actuator, as Basic authentication. They are part of the metadata
 * of the registration; the server's pages mask the password.
 */
export interface CallCredentials {
  /** Any name without a colon. The actuator ignores it, but the server sends no credentials without one. */
  readonly username: string;
  /** A token of the actuator. */
  readonly password: string;
}

/** How the certificate of a server is verified. */
export interface AdminTlsOptions {
  /** The authorities to trust instead of those of Node.js: the path of a PEM file, or its content. */
  readonly ca?: string | Uint8Array | undefined;
}

const MAX_METADATA = 100;
const MAX_TEXT = 1_024;

/** Names that a server takes for credentials wherever they come from, whatever separates their words. */
const CREDENTIALS = /^user[._-]?(name|password)$/i;

const httpUrl = (value: unknown, bare: boolean): string | undefined => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return 'must be an address such as "https://host.example.com"';
  }
  // Not repeated: the address may hold a password.
  if (url.username !== "" || url.password !== "") return "must be an address without user and password";
  return bare && (url.search !== "" || url.hash !== "") ? "must be an address without ? and #" : undefined;
};

const servedUrl = shaped({ kind: "text" }, (value) => httpUrl(value, false));
const adminUrl = shaped({ kind: "text" }, (value) => httpUrl(value, true));

const name = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u.test(value)
    ? undefined
    : "must be a string of 1 to 128 printable characters",
);

/** RFC 7617: a colon ends the user's name. */
const username = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^[^\p{Cc}:]{1,256}$/u.test(value) ? undefined : "must be a string without a colon",
);

const password = shaped(
  { kind: "text" },
  (value) =>
    typeof value === "string" && /^[^\p{Cc}]{1,4096}$/u.test(value) ? undefined : "must be a string on one line",
  { secret: true },
);

const metadata = shaped({ kind: "texts" }, (value) => {
  if (!isRecord(value)) return "must be an object of strings";
  const entries = Object.entries(value);
  if (entries.length > MAX_METADATA) return `must not have more than ${MAX_METADATA} entries`;
  for (const [key, entry] of entries) {
    if (typeof entry !== "string")
      return `must be flat: ${JSON.stringify(key)} is not a string, and the server accepts only strings`;
    if (entry.length > MAX_TEXT || key.length > MAX_TEXT)
      return `must not have strings of more than ${MAX_TEXT} characters`;
    if (CREDENTIALS.test(key)) return `must not have ${JSON.stringify(key)}: \`credentials\` says that`;
    if (key === "startup") return 'must not have "startup", which says when the application started';
  }
  return undefined;
});

const CALL_CREDENTIALS: Checks<CallCredentials> = { username, password };

const ADMIN_TLS: Checks<AdminTlsOptions> = { ca: pem };

/** The checks of {@link SpringBootAdminOptions}. */
export const ADMIN: Checks<SpringBootAdminOptions> = {
  url: shaped(
    { kind: "list", of: adminUrl },
    (value) => {
      if (!Array.isArray(value)) return adminUrl(value);
      if (value.length === 0 || value.length > 16) return "must be one address, or a list of 1 to 16";
      return listOf(adminUrl)(value);
    },
    { schema: textOrTexts.facts!.schema! },
  ),
  name,
  managementUrl: shaped({ kind: "text" }, (value) => {
    const fault = httpUrl(value, true);
    if (fault !== undefined) return fault;
    return new URL(value as string).pathname === "/" ? "must have the path of the actuator, such as /actuator" : fault;
  }),
  serviceUrl: servedUrl,
  healthUrl: servedUrl,
  username,
  password,
  credentials: objectOf(CALL_CREDENTIALS, ({ username: user, password: secret }) =>
    user === undefined || secret === undefined ? "must have username and password" : undefined,
  ),
  metadata,
  intervalMs: shaped(
    { kind: "milliseconds" },
    (value) =>
      timerMs(value) === undefined && (value as number) >= 100
        ? undefined
        : "must be a whole number of milliseconds of at least 100",
    { default: 10_000 },
  ),
  timeoutMs: option(timeLimitMs, { default: 5_000 }),
  deregister: option(flag, { default: true }),
  deregisterTimeoutMs: option(timeLimitMs, { default: 2_000 }),
  registerOnce: option(flag, { default: false }),
  tls: objectOf(ADMIN_TLS),
};

/** The check of {@link SpringBootAdminOptions} as a whole. */
export const adminOptions: Check = objectOf(ADMIN, ({ url, username: user, password: secret }) => {
  if (url === undefined) return ".url must be the address of the server";
  if ((user === undefined) === (secret === undefined)) return undefined;
  return `.${user === undefined ? "username" : "password"} is missing: username and password must be set together`;
});

/**
 * The faults of valid options that lack a name for the application.
 *
 * @param applicationName stands in for a name of their own
 */
export function adminNameFaults(
  where: string,
  { name }: SpringBootAdminOptions,
  applicationName: string | undefined,
): OptionFault[] {
  if (name !== undefined || text(applicationName) === undefined) return [];
  const field = `${where}.name`;
  const message = `${field} must be set, because the application has no \`name\``;
  return [{ field, reason: "INVALID_OPTION", message }];
}

/**
 * Checks options with what has to go together.
 *
 * @param where what the options are called, such as `createActuator.admin`
 * @param applicationName stands in for a name of their own
 * @throws ActuatorError INVALID_ARGUMENT that names the options; never a credential
 */
export function checkSpringBootAdminOptions(
  where: string,
  options: SpringBootAdminOptions,
  applicationName: string | undefined,
): void {
  const faults = faultsWithin(where, options, adminOptions);
  refuseFaults(faults.length > 0 ? faults : adminNameFaults(where, options, applicationName));
}
