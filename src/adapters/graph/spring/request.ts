/** How the graph of a remote application is asked for. */
export interface RequestOptions {
  /** Sent with each request, such as `{ authorization: "Basic …" }`. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The largest answer that is read, in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

const ACCEPT = "application/vnd.spring-boot.actuator.v3+json, application/json;q=0.9";

/**
 * The JSON that `url` answers. Redirects are not followed: the headers may hold credentials.
 *
 * Throws an Error that says what is wrong with the answer, without the URL's credentials.
 */
export async function requestJson(url: URL, options: RequestOptions, signal: AbortSignal): Promise<unknown> {
  const { headers = {}, maxBytes = 16 * 1024 * 1024 } = options;
  const address = new URL(url);
  const { username, password } = address;
  address.username = "";
  address.password = "";
  const response = await fetch(address, {
    headers: { accept: ACCEPT, ...basic(username, password), ...headers },
    redirect: "error",
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${address.href} answers ${response.status}`);
  }
  return JSON.parse(await text(response, maxBytes, address.href));
}

async function text(response: Response, maxBytes: number, address: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`${address} answers more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function basic(username: string, password: string): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A URL may hold a percent sign that encodes nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
