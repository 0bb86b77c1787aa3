import { isIP, type Server } from "node:net";
import { dirname, resolve } from "node:path";
import { ActuatorError } from "../common/error.ts";
import { isLoopback } from "../common/ip-address.ts";
import { checkOptions } from "../common/options.ts";
import { fileMode, LISTEN, type ListenOptions } from "./listen-options.ts";
import { requiresCertificates } from "./tls-options.ts";

/** Where a listener is reached. For a Unix socket, `address` is its path and `port` is 0. */
export interface ListenAddress {
  readonly port: number;
  readonly address: string;
  /** Such as `http://127.0.0.1:9001`, `https://[::1]:9001` or `unix:/run/shop.sock`. */
  readonly url: string;
}

/** Where to listen, from checked options. */
export type ListenTarget =
  | { readonly port: number; readonly host: string }
  | { readonly path: string; readonly mode: number };

/**
 * Checks the options and fills in the defaults.
 *
 * @param authenticated whether callers must authenticate
 * @throws ActuatorError INVALID_ARGUMENT for options that cannot be, FAILED_PRECONDITION for a host that others can reach
 * without access control: any client of this port can change levels and end sessions. The message has everything that is wrong,
 * one line each.
 */
export function listenTarget(options: ListenOptions, authenticated = false): ListenTarget {
  checkListenOptions(options ?? {});
  const faults = listenFaults(options, authenticated);
  const [first, ...others] = faults;
  if (first !== undefined && others.length === 0) throw first;
  if (first !== undefined) {
    const message = faults.map((fault) => fault.message).join("\n");
    throw new ActuatorError(first.code, first.reason, message, first.metadata);
  }
  const { port, path, mode } = options;
  return path === undefined
    ? { port: port!, host: bareHost(options) }
    : { path: process.platform === "win32" ? path : resolve(path), mode: fileMode(mode ?? 0o600)! };
}

/** Why options of listening that are fit one by one cannot be together, or not here; each with its field. */
export function listenFaults(options: ListenOptions, authenticated: boolean): ActuatorError[] {
  const { port, path, mode, tls } = options;
  const faults = tls === undefined ? [] : tlsFaults(tls);
  if (path !== undefined) {
    if (port !== undefined || options.host !== undefined) {
      faults.push(invalid("path", "`path` cannot be combined with `port` or `host`"));
    }
    return [...faults, ...socketFaults(path)];
  }
  if (mode !== undefined)
    faults.push(invalid("mode", "`mode` applies to a Unix socket only; set `path` too, or leave `mode` out"));
  if (port === undefined) faults.push(invalid("port", "`port` is missing; choose a port, or 0 for any free one"));
  return [...faults, ...hostFaults(options, authenticated)];
}

function hostFaults(options: ListenOptions, authenticated: boolean): ActuatorError[] {
  const host = bareHost(options);
  const said = JSON.stringify(options.host);
  if (host === "") return [invalid("host", "the `host` option is empty; for all addresses use 0.0.0.0 or ::")];
  if (host.includes("%")) {
    const message = `the \`host\` option ${said} has a zone; link-local addresses are not supported`;
    return [invalid("host", message)];
  }
  if (authenticated || isLoopback(host) || requiresCertificates(options.tls)) return [];
  const message =
    `refused to listen on ${said}: other machines could reach it, and no access ` +
    "control is configured. Set the `access` option (tokens, jwt, certificates or authorize), or `tls` with a `ca` and " +
    '`clientCertificate: "require"`; or leave the `host` option at 127.0.0.1';
  return [new ActuatorError("FAILED_PRECONDITION", "HOST_NOT_LOOPBACK", message, { field: "host" })];
}

function bareHost({ host = "127.0.0.1" }: ListenOptions): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

function tlsFaults(tls: NonNullable<ListenOptions["tls"]>): ActuatorError[] {
  const faults = (["cert", "key"] as const)
    .filter((field) => tls[field] === undefined)
    .map((field) => invalid(`tls.${field}`, `\`tls\` has no \`${field}\`; TLS needs one`));
  const { ca, crl, clientCertificate } = tls;
  if (crl !== undefined && ca === undefined) {
    faults.push(invalid("tls.ca", "`tls.crl` needs the authorities that issued the lists; set `tls.ca`"));
  }
  if (ca === undefined && clientCertificate !== undefined && clientCertificate !== "none") {
    const message = "`tls.clientCertificate` needs the authorities to verify clients with; set `tls.ca`";
    faults.push(invalid("tls.ca", message));
  }
  if (ca !== undefined && clientCertificate === undefined) {
    const message = "`tls.ca` has no effect unless client certificates are requested; set `tls.clientCertificate`";
    faults.push(invalid("tls.clientCertificate", message));
  }
  return faults;
}

/** Names fields as all errors of listening do: from the options of `listen` on. */
function checkListenOptions(options: ListenOptions): void {
  try {
    checkOptions("listen", options, LISTEN);
  } catch (error) {
    const { code, reason, message, metadata } = error as ActuatorError;
    throw new ActuatorError(code, reason, message, { field: metadata.field!.replace(/^listen\./, "") });
  }
}

/** What the system's address of a Unix socket holds, its end mark excluded. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

function socketFaults(path: string): ActuatorError[] {
  if (path.includes("\0")) {
    const message =
      "the `path` option must not contain a null character: every user of this machine could connect to an abstract socket";
    return [invalid("path", message)];
  }
  if (process.platform === "win32") return [];
  const whole = resolve(path);
  // The socket first comes to be in a folder of its own, see unix-socket.ts.
  const bytes = Math.max(Buffer.byteLength(whole), Buffer.byteLength(dirname(whole)) + "/.xxxxxx/s".length);
  if (bytes <= MAX_PATH_BYTES) return [];
  return [invalid("path", `the path ${whole} is too long for a Unix socket by ${bytes - MAX_PATH_BYTES} bytes`)];
}

/** Addresses that stand for all of this machine, by the one of them that can be connected to from it. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Whether an address that a server is bound to stands for all of this machine: then it is not known which one others can reach. */
export function isWildcard(address: string): boolean {
  return Object.hasOwn(WILDCARDS, address);
}

/** Where a listening server is reached: from this machine, where it listens on every address. */
export function addressOf(server: Server, target: ListenTarget, scheme: "http" | "https" = "http"): ListenAddress {
  if ("path" in target) return { port: 0, address: target.path, url: `unix:${target.path}` };
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new TypeError("the server does not listen on a port");
  const name = isIP(target.host) === 0 ? target.host : (WILDCARDS[bound.address] ?? bound.address);
  return {
    port: bound.port,
    address: bound.address,
    url: `${scheme}://${name.includes(":") ? `[${name}]` : name}:${bound.port}`,
  };
}

/** By Node's error code, the reason and the sentence; `what` could not be had, and `option` changes it. */
const FAILURES: Readonly<Record<string, readonly [reason: string, sentence: string]>> = {
  EADDRINUSE: ["ADDRESS_IN_USE", "{what} is already in use; choose another with the `{option}` option"],
  EEXIST: ["ADDRESS_IN_USE", "{what} is already in use; choose another with the `{option}` option"],
  EACCES: ["ADDRESS_FORBIDDEN", "this process may not listen on {what}; choose another with the `{option}` option"],
  EPERM: ["ADDRESS_FORBIDDEN", "this process may not listen on {what}; choose another with the `{option}` option"],
  EROFS: ["ADDRESS_FORBIDDEN", "{what} is on a read-only file system; choose another with the `{option}` option"],
  ENOENT: [
    "PATH_NOT_FOUND",
    "the folder of {what} does not exist; create it, or choose another with the `{option}` option",
  ],
  ENOTDIR: ["PATH_NOT_FOUND", "the folder of {what} is not a folder; choose another with the `{option}` option"],
  EADDRNOTAVAIL: ["HOST_UNKNOWN", "the host of {what} is not an address of this machine; change the `host` option"],
  EAFNOSUPPORT: ["HOST_UNKNOWN", "the host of {what} is not an address of this machine; change the `host` option"],
  ENOTFOUND: ["HOST_UNKNOWN", "the host of {what} cannot be resolved; change the `host` option"],
  EAI_AGAIN: [
    "HOST_UNKNOWN",
    "the host of {what} cannot be resolved at the moment; try again, or change the `host` option",
  ],
};

/** Puts a failure to listen into the operator's words: what could not be had, and which option changes it. */
export function listenError(error: NodeJS.ErrnoException, target: ListenTarget): ActuatorError {
  if (error instanceof ActuatorError) return error;
  const [what, option] =
    "path" in target ? [`the path ${target.path}`, "path"] : [`port ${target.port} on ${target.host}`, "port"];
  const [reason, sentence] = FAILURES[error.code ?? ""] ?? [
    "LISTEN_FAILED",
    `could not listen on {what}: ${error.message}`,
  ];
  const message = sentence.replace("{what}", () => what).replace("{option}", option);
  return new ActuatorError("FAILED_PRECONDITION", reason, message, { field: option }, { cause: error });
}

function invalid(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_LISTEN_OPTION", message, { field });
}
