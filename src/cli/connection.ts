import { readFileSync } from "node:fs";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { isReadableOnTheWay } from "../common/ip-address/loopback.ts";
import { bearerToken } from "../common/options.ts";
import { clientTransport } from "../fleet/client-transport.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { note } from "./output.ts";

/** Calls the services of the actuator that the options name. */
export type Connection = <S extends DescService>(service: S) => Client<S>;

/**
 * Connects with nothing yet; each call does.
 *
 * @throws CliError for an address, a token or a file that cannot be used.
 */
export function connect(options: Pick<GlobalOptions, "url" | "token" | "timeout" | "ca" | "cert" | "key">): Connection {
  const url = baseUrlOf(options.url);
  const socketPath = socketPathOf(url);
  // A variable that is set to nothing.
  const token = options.token || undefined;
  checkToken(token);
  if (token !== undefined && socketPath === undefined && isReadableOnTheWay(url)) {
    note(`warning: the token goes to ${url} unencrypted`);
  }
  const tls = socketPath === undefined ? certificatesFrom(options) : undefined;
  const transport = clientTransport({ url, socketPath, token, timeoutMs: options.timeout, tls });
  return (service) => createClient(service, transport);
}

/**
 * The address to call for what was typed, where `http://` may be left out; without the `/` at its end. That of a Unix socket is
 * `unix:` and its path.
 *
 * @throws CliError where it is none. What may be a password is not repeated.
 */
export function baseUrlOf(text: string): string {
  if (socketPathOf(text) !== undefined) return text;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CliError(EXIT.usage, "--url takes an address such as http://127.0.0.1:9001");
  }
  if (url.username !== "" || url.password !== "") {
    throw new CliError(EXIT.usage, "--url takes no user and password: give a token with ACTUATOR_TOKEN or --token");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new CliError(EXIT.usage, "--url takes an address without ? and #, such as http://127.0.0.1:9001");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function socketPathOf(url: string): string | undefined {
  return /^unix:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
}

/** What TLS needs to know, read from the files that the options name. */
function certificatesFrom({ ca, cert, key }: Pick<GlobalOptions, "ca" | "cert" | "key">) {
  if ((cert === undefined) !== (key === undefined)) {
    throw new CliError(EXIT.usage, "--cert and --key go together: the certificate and its key");
  }
  return {
    ...(ca !== undefined && { ca: pemOf("--ca", ca) }),
    ...(cert !== undefined && { cert: pemOf("--cert", cert) }),
    ...(key !== undefined && { key: pemOf("--key", key) }),
  };
}

function pemOf(option: string, file: string): Buffer {
  let pem: Buffer;
  try {
    pem = readFileSync(file);
  } catch (error) {
    throw new CliError(EXIT.usage, `${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  // OpenSSL's own word for it would name neither the file nor the option.
  if (!pem.includes("-----BEGIN ")) throw new CliError(EXIT.usage, `${option}: ${file} is no PEM file`);
  return pem;
}

function checkToken(token: string | undefined): void {
  if (token !== undefined && bearerToken(token) !== undefined) {
    throw new CliError(EXIT.usage, "the token has spaces or characters that an HTTP header cannot carry");
  }
}
