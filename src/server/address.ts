import { BlockList, isIP, type Server } from "node:net";
import { ActuatorError } from "../error.ts";

/** Where to listen: a TCP port of a loopback host, or the path of a Unix socket. */
export interface ListenOptions {
  /** TCP port, 0 to 65535; 0 lets the system choose a free one. */
  readonly port?: number | undefined;
  /**
   * The name or address to listen on. Default `127.0.0.1`. One that others than this machine reach, such as `0.0.0.0` or
   * `::` (which is IPv4 as well), needs access control.
   */
  readonly host?: string | undefined;
  /** The path of a Unix socket, instead of `port` and `host`. */
  readonly path?: string | undefined;
}

/** Where a listener is reached. For a Unix socket, `address` is its path and `port` is 0. */
export interface ListenAddress {
  readonly port: number;
  readonly address: string;
  /** Such as `http://127.0.0.1:9001`, `http://[::1]:9001` or `unix:/run/shop.sock`. */
  readonly url: string;
}

/** What Node is asked for, once the options are known to be sound. */
export type ListenTarget = { readonly port: number; readonly host: string } | { readonly path: string };

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for `localhost`, 127.0.0.0/8 and `::1`, which only this machine reaches. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}

/**
 * Checks the options and fills in the defaults.
 *
 * @param authenticated whether callers are asked who they are
 * @throws ActuatorError INVALID_ARGUMENT for a port or host that cannot be, FAILED_PRECONDITION for a host that others
 * reach where nobody asks who they are: whoever gets through to this port can change levels and end sessions.
 */
export function listenTarget(options: ListenOptions, authenticated = false): ListenTarget {
  const { port, host = "127.0.0.1", path } = (options as ListenOptions | undefined) ?? {};
  if (path !== undefined) {
    if (path !== "") return { path };
    throw invalid("path", "the `path` option is empty; name the Unix socket to listen on");
  }
  if (port === undefined) throw invalid("port", "no `port` option; choose a port, or 0 for any free one");
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw invalid("port", `port ${port} does not exist; the \`port\` option takes a whole number from 0 to 65535`);
  }
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (bare === "") throw invalid("host", "the `host` option is empty; 0.0.0.0 or :: stand for every address");
  if (bare.includes("%")) {
    const message = `the \`host\` option ${JSON.stringify(host)} names a zone; addresses of one link are not listened on`;
    throw invalid("host", message);
  }
  if (!authenticated && !isLoopback(bare)) {
    throw new ActuatorError(
      "FAILED_PRECONDITION",
      "HOST_NOT_LOOPBACK",
      `refused to listen on ${JSON.stringify(host)}: others than this machine could reach it, and nobody asks who they ` +
        "are. Give the `access` option (tokens, jwt, certificates or authorize), or `tls` with a `ca` and " +
        '`clientCertificate: "require"`; or leave the `host` option at 127.0.0.1',
      { field: "host" },
    );
  }
  return { port, host: bare };
}

/** Addresses that stand for all of this machine, by the one of them that can be connected to from it. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Where a listening server is reached: from this machine, where it listens on every address. */
export function addressOf(server: Server, target: ListenTarget): ListenAddress {
  if ("path" in target) return { port: 0, address: target.path, url: `unix:${target.path}` };
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new TypeError("the server does not listen on a port");
  const name = isIP(target.host) === 0 ? target.host : (WILDCARDS[bound.address] ?? bound.address);
  return {
    port: bound.port,
    address: bound.address,
    url: `http://${name.includes(":") ? `[${name}]` : name}:${bound.port}`,
  };
}

/** By Node's error code, the reason and the sentence; `what` could not be had, and `option` changes it. */
const FAILURES: Readonly<Record<string, readonly [reason: string, sentence: string]>> = {
  EADDRINUSE: ["ADDRESS_IN_USE", "{what} is already in use; choose another with the `{option}` option"],
  EACCES: ["ADDRESS_FORBIDDEN", "this process may not listen on {what}; choose another with the `{option}` option"],
  EADDRNOTAVAIL: ["HOST_UNKNOWN", "the host of {what} is no address of this machine; see the `host` option"],
  ENOTFOUND: ["HOST_UNKNOWN", "the host of {what} is no name of this machine; see the `host` option"],
};

/** Puts a failure to listen into the operator's words: what could not be had, and which option changes it. */
export function listenError(error: NodeJS.ErrnoException, target: ListenTarget): ActuatorError {
  const [what, option] =
    "path" in target ? [`the path ${target.path}`, "path"] : [`port ${target.port} on ${target.host}`, "port"];
  const [reason, sentence] = FAILURES[error.code ?? ""] ?? [
    "LISTEN_FAILED",
    `could not listen on {what}: ${error.message}`,
  ];
  const message = sentence.replace("{what}", what).replace("{option}", option);
  return new ActuatorError("FAILED_PRECONDITION", reason, message, { field: option }, { cause: error });
}

function invalid(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_LISTEN_OPTION", message, { field });
}
