import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { note } from "./output.ts";

/** The most bytes of one answer: far over what an actuator sends, and a bound for what is none. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Calls the services of the actuator that the options name. */
export type Connection = <S extends DescService>(service: S) => Client<S>;

/**
 * Connects with nothing yet; each call does. Connect over HTTP/1.1 is spoken, since that alone goes through every port,
 * mount and proxy of an actuator; streams included, as none of them sends both ways.
 *
 * @throws CliError for an address or a token that cannot be used.
 */
export function connect(options: Pick<GlobalOptions, "url" | "token" | "timeout">): Connection {
  const baseUrl = baseUrlOf(options.url);
  if (options.token && !isPrivate(baseUrl)) note(`warning: the token goes to ${baseUrl} unencrypted`);
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: "1.1",
    useBinaryFormat: true,
    defaultTimeoutMs: options.timeout,
    readMaxBytes: MAX_ANSWER_BYTES,
    interceptors: options.token ? [bearer(options.token)] : [],
  });
  return (service) => createClient(service, transport);
}

/**
 * The address to call for what was typed, where `http://` may be left out; without the `/` at its end.
 *
 * @throws CliError where it is none. What may be a password is not repeated.
 */
export function baseUrlOf(text: string): string {
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

/** Whether nobody can listen on the way: encrypted, or not leaving this machine. */
function isPrivate(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function bearer(token: string): Interceptor {
  // Node's own error for such a header would repeat its value.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CliError(EXIT.usage, "the token has spaces or characters that an HTTP header cannot carry");
  }
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
