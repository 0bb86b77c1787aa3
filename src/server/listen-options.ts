import { type Checks, countFrom, flag, objectOf, option, shaped, text } from "../common/options.ts";
import { TLS, type TlsOptions } from "./tls-options.ts";

/** Where to listen: a TCP port of a host, or the path of a Unix socket. */
export interface ListenOptions {
  /** TCP port, 0 to 65535; 0 lets the system choose a free one. `connect-actuator serve` and `configuration` default to 9001. */
  readonly port?: number | undefined;
  /**
   * The name or address to listen on. Default `127.0.0.1`. An address that other machines can reach, such as `0.0.0.0` or `::`
   * (which includes IPv4), requires access control.
   */
  readonly host?: string | undefined;
  /**
   * The path of a Unix socket, instead of `port` and `host`. A socket that an ended process left there is replaced; if any
   * other file is there, `listen` fails. The socket is removed when the actuator is closed.
   */
  readonly path?: string | undefined;
  /**
   * The permissions of the Unix socket's file, as a number or as octal digits such as `"0660"`. Default `0o600`: only processes
   * of this user can connect. The socket is created with these permissions.
   */
  readonly mode?: number | string | undefined;
  /** Accepts only TLS. Default: cleartext. */
  readonly tls?: TlsOptions | undefined;
  /** Whether the process may end while it listens, also while a client is connected. Default false. */
  readonly unref?: boolean | undefined;
}

/** The checks of {@link ListenOptions}. */
export const LISTEN: Checks<ListenOptions> = {
  port: option(countFrom(0, 65_535), { default: 9001 }),
  host: option(text, { default: "127.0.0.1" }),
  path: option(text, { path: "written" }),
  mode: shaped({ kind: "text" }, (value) =>
    fileMode(value) === undefined
      ? 'must be permissions of a file, as a number up to 0o777 or as octal digits such as "0660"'
      : undefined,
  ),
  tls: objectOf(TLS),
  unref: option(flag, { default: false }),
};

/** Permissions of a file as a number; undefined if it is invalid. */
export function fileMode(mode: unknown): number | undefined {
  const number = typeof mode === "string" && /^0?[0-7]{3}$/.test(mode) ? Number.parseInt(mode, 8) : mode;
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 0o777
    ? (number as number)
    : undefined;
}
