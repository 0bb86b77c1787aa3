import { readFileSync } from "node:fs";
import { type DescMessage, type DescService, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { isReadableOnTheWay } from "../common/ip-address.ts";
import { bearerToken } from "../common/options.ts";
import { printableJson } from "../common/printable.ts";
import { type ActuatorAddress, clientTransport } from "../peers/client-transport.ts";
import { CliError, EXIT } from "./error.ts";
import { note, print } from "./output.ts";

/** How an actuator is reached. */
export interface ConnectionOptions {
  readonly url: string;
  readonly token?: string;
  /** Path of a PEM file: the authorities to trust. */
  readonly ca?: string;
  /** Paths of PEM files: the client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Creates clients for the services of the actuator at an address. */
export interface Connection {
  <S extends DescService>(service: S): Client<S>;
  readonly address: ActuatorAddress;
}

/**
 * Creates a connection to the actuator that the options name. Nothing is sent before the first call.
 *
 * @throws CliError for an address, a token or a file that cannot be used.
 */
export function connect(options: ConnectionOptions): Connection {
  const url = baseUrlOf(options.url);
  const socketPath = socketPathOf(url);
  // An environment variable may be set to the empty string.
  const token = options.token || undefined;
  if (token !== undefined && bearerToken(token) !== undefined) {
    throw new CliError(EXIT.usage, "the token has spaces or characters that an HTTP header cannot carry");
  }
  if (token !== undefined && socketPath === undefined && isReadableOnTheWay(url)) {
    note(`warning: the token goes to ${url} unencrypted`);
  }
  const tls = socketPath === undefined ? certificatesFrom(options) : undefined;
  return connectionTo({ url, socketPath, token, timeoutMs: options.timeout, tls });
}

/** Creates a connection to an address that has been checked. */
export function connectionTo(address: ActuatorAddress, http2?: Parameters<typeof clientTransport>[1]): Connection {
  const transport = clientTransport(address, http2);
  const client = <S extends DescService>(service: S) => createClient(service, transport);
  return Object.assign(client, { address });
}

/**
 * Normalizes the address that was typed: `http://` may be left out, and a trailing `/` is removed. The address of a Unix socket
 * is `unix:` and its path.
 *
 * @throws CliError for an invalid address. The message does not repeat it, because it may contain a password.
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

function certificatesFrom({ ca, cert, key }: Pick<ConnectionOptions, "ca" | "cert" | "key">) {
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
  // OpenSSL's own error would name neither the file nor the option.
  if (!pem.includes("-----BEGIN ")) throw new CliError(EXIT.usage, `${option}: ${file} is not a PEM file`);
  return pem;
}

/** Fetches the pages of a list, one after the other, until there are no more or the caller stops. */
export async function* pages<Page extends { readonly nextPageToken: string }>(
  fetch: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = "";
  do {
    const page = await fetch(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/** Prints a message as protobuf JSON, on several lines or, in a stream of JSON lines, on one. */
export function printJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  lines: "many" | "one" = "many",
): void {
  print(printableJson(toJson(schema, message), lines === "many" ? 2 : undefined));
}
