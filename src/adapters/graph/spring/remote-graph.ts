import { isRecord } from "../../../common/record.ts";
import { LINK_TYPES, type LinkType } from "../../../integration-graph/link-type.ts";
import { isChannel, isPattern, type PatternType } from "../../../integration-graph/pattern.ts";

/** The parts of an application's integration graph that can be shown. */
export interface RemoteGraph {
  /** The application's name, if it is configured there. */
  readonly name: string | undefined;
  readonly nodes: readonly RemoteNode[];
  readonly links: readonly RemoteLink[];
}

export interface RemoteNode {
  readonly id: number;
  readonly name: string;
  readonly pattern: PatternType;
  readonly componentType: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly handlers: readonly { readonly name: string; readonly type: string }[] | undefined;
  readonly sends: { readonly successes: RemoteTimer; readonly failures: RemoteTimer } | undefined;
  readonly receives: { readonly successes: number; readonly failures: number } | undefined;
}

export interface RemoteTimer {
  readonly count: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly max: number;
}

interface RemoteLink {
  readonly from: number;
  readonly to: number;
  readonly type: LinkType;
}

const MAX_NAME = 256;
const MAX_PROPERTIES = 4_096;
const MAX_HANDLERS = 100;
/** Ten years in milliseconds: longer times would add up to no number. */
const LONGEST = 315_360_000_000;
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Reads the body of `/actuator/integrationgraph`, of any version. Leaves out what is missing or unknown in a node, nodes
 * without an id or a name, and invalid links.
 *
 * @throws TypeError if the body is not such a graph.
 */
export function remoteGraph(body: unknown): RemoteGraph {
  if (!isRecord(body) || !Array.isArray(body.nodes) || !Array.isArray(body.links)) {
    throw new TypeError("the answer is not an integration graph: it has no nodes and links");
  }
  const { contentDescriptor } = body;
  const name = isRecord(contentDescriptor) ? contentDescriptor.name : undefined;
  const nodes = body.nodes.flatMap((node) => remoteNode(node) ?? []);
  return {
    name: typeof name === "string" && name !== "" ? name : undefined,
    nodes,
    links: body.links.flatMap((link) => remoteLink(link) ?? []),
  };
}

function remoteNode(node: unknown): RemoteNode | undefined {
  if (!isRecord(node) || typeof node.nodeId !== "number" || !isName(node.name)) return undefined;
  const { componentType, properties, handlers, sendTimers, receiveCounters } = node;
  return {
    id: node.nodeId,
    name: node.name,
    pattern: patternOf(node),
    componentType: typeof componentType === "string" ? componentType : undefined,
    properties: isRecord(properties) && JSON.stringify(properties).length <= MAX_PROPERTIES ? properties : {},
    handlers: Array.isArray(handlers) ? handlers.slice(0, MAX_HANDLERS).filter(isHandler) : undefined,
    sends: isRecord(sendTimers)
      ? { successes: timer(sendTimers.successes), failures: timer(sendTimers.failures) }
      : undefined,
    receives: isRecord(receiveCounters)
      ? { successes: count(receiveCounters.successes), failures: count(receiveCounters.failures) }
      : undefined,
  };
}

/** The original falls back in the same way for components without a pattern of their own. */
function patternOf({ integrationPatternType: type, integrationPatternCategory: category }: Record<string, unknown>) {
  if (isPattern(type)) return type;
  return category === "messaging_channel" ? "message_channel" : "service_activator";
}

function remoteLink(link: unknown): RemoteLink | undefined {
  if (!isRecord(link) || typeof link.from !== "number" || typeof link.to !== "number") return undefined;
  const type = LINK_TYPES.find((known) => known === link.type);
  return type && { from: link.from, to: link.to, type };
}

/** Whether a link of this type can lead from one node to the other. One wrong link must not fail the whole graph. */
export function leads({ type }: RemoteLink, from: RemoteNode, to: RemoteNode): boolean {
  if (type === "input") return isChannel(from.pattern) && !isChannel(to.pattern);
  return isChannel(to.pattern) && (type === "route" || type === "error" || !isChannel(from.pattern));
}

function isHandler(handler: unknown): handler is { name: string; type: string } {
  return isRecord(handler) && isName(handler.name) && typeof handler.type === "string";
}

/** Whether a graph accepts a name. One wrong name must not fail the whole graph. */
function isName(name: unknown): name is string {
  return (
    typeof name === "string" && name !== "" && name.length <= MAX_NAME && name.isWellFormed() && !HIDDEN.test(name)
  );
}

function timer(value: unknown): RemoteTimer {
  if (!isRecord(value)) return { count: 0, mean: 0, max: 0 };
  return { count: count(value.count), mean: duration(value.mean), max: duration(value.max) };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}

function duration(value: unknown): number {
  return Number.isFinite(value) && (value as number) > 0 ? Math.min(value as number, LONGEST) : 0;
}

/** Options of a request. */
export interface RequestOptions {
  /** Sent with each request, such as `{ authorization: "Basic …" }`. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The largest answer that is read, in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

const ACCEPT = "application/vnd.spring-boot.actuator.v3+json, application/json;q=0.9";

/**
 * Requests JSON from `url`. Redirects are not followed, since the headers may contain credentials.
 *
 * @throws Error that says what is wrong with the answer, without the credentials of the URL.
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
