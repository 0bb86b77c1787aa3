import { ActuatorError } from "../../common/error.ts";
import { isTrusted, schemeOf, type TrustedProxies } from "../../server/peer.ts";
import type { Call, Request, RequestTarget } from "./operation.ts";
import { Refusal } from "./problem.ts";

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Parses a request target (RFC 9112 section 3.2). */
export function parseRequestTarget(url: string): RequestTarget {
  const absolute = url.startsWith("/") ? null : ABSOLUTE.exec(url);
  const from = absolute === null ? 0 : absolute[0].length;
  const mark = url.indexOf("?", from);
  return {
    path: mark < 0 ? url.slice(from) : url.slice(from, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    authority: absolute?.[1],
  };
}

/** Whether a target has only characters of a URI, and no fragment, which never belongs in a request. */
export function isWellFormedTarget(url: string): boolean {
  return !/[^!-~]|#/.test(url);
}

/** The part of a path below the base path: empty for the base path itself, undefined outside it. */
export function pathBelow(basePath: string, path: string): string | undefined {
  if (!path.startsWith(basePath)) return undefined;
  const next = path[basePath.length];
  return next === undefined || next === "/" ? path.slice(basePath.length) : undefined;
}

/** The mount path of the gateway, and the gateway's part of the URL. */
export interface Mounted {
  /** The path before the base path, which Express cuts off; empty if the gateway is at the root. */
  readonly mount: string;
  readonly url: string;
}

/**
 * Finds the gateway's URL of a request. Express keeps the whole URL in `originalUrl` and cuts the mount path off `url`. The mount path may
 * end in the base path (`app.use("/actuator", …)`) or come before it (`app.use("/manage", …)`).
 */
export function mountedUrl(request: Request, basePath: string): Mounted {
  const { url = "", originalUrl } = request as Request & { readonly originalUrl?: string };
  if (originalUrl === undefined || isBelow(basePath, originalUrl)) return { mount: "", url: originalUrl ?? url };
  if (!isBelow(basePath, url) || !originalUrl.endsWith(url)) return { mount: "", url: originalUrl };
  return { mount: originalUrl.slice(0, -url.length), url };
}

function isBelow(basePath: string, url: string): boolean {
  return pathBelow(basePath, parseRequestTarget(url).path) !== undefined;
}

/**
 * Decodes a segment of a path: cuts off `;matrix` parts and decodes percent-encoded UTF-8. Empty if nothing is left.
 *
 * @throws ActuatorError INVALID_ARGUMENT for invalid percent-encoding or UTF-8, a control character, and for an encoded slash or any
 *   backslash, which a proxy in front may read as the end of the segment
 */
export function decodeSegment(segment: string): string {
  if (!/[%;\\]/.test(segment)) return segment;
  const whole = decodeUri(segment);
  if (/[/\\]/.test(whole)) throw invalidSegment("must not contain a slash or a backslash, encoded or not");
  if (/\p{Cc}/u.test(whole)) throw invalidSegment("must not contain a control character");
  const matrix = segment.indexOf(";");
  return matrix < 0 ? whole : decodeUri(segment.slice(0, matrix));
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidSegment("must be percent-encoded UTF-8");
  }
}

function invalidSegment(rule: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_PATH", `The last segment of the path ${rule}.`);
}

/** @throws ActuatorError INVALID_ARGUMENT for a query with invalid percent-encoding, also in a parameter that nothing reads */
export function checkQuery(query: string): void {
  if (!/%(?![\da-f]{2})/i.test(query)) return;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_QUERY", "The query must be percent-encoded UTF-8.");
}

/**
 * Returns the only value of a query parameter, decoded like a field of an HTML form.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the parameter is missing, repeated or not UTF-8
 */
export function requiredParameter(query: string, name: string): string {
  let value: string | undefined;
  for (const pair of query.split("&")) {
    const mark = pair.indexOf("=");
    if (decodeField(mark < 0 ? pair : pair.slice(0, mark)) !== name) continue;
    if (value !== undefined) throw invalidParameter(name, "must be given once");
    value = mark < 0 ? "" : decodeField(pair.slice(mark + 1));
    if (value === undefined) throw invalidParameter(name, "must be percent-encoded UTF-8");
  }
  if (value === undefined) throw invalidParameter(name, "is required");
  return value;
}

function decodeField(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function invalidParameter(name: string, rule: string): ActuatorError {
  const message = `The query parameter ${name} ${rule}.`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_QUERY", message, { field: name });
}

const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i;
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*\/?$/;

/**
 * Returns the address that the caller uses, up to the base path, such as `https://example.test:81/prefix`: from the `Host` of the
 * request, and from `X-Forwarded-Host`, `-Proto` and `-Prefix` of a trusted proxy.
 *
 * @throws Refusal 400 without a body for an invalid host
 */
export function requestOrigin({ request, target }: Call, trusted: TrustedProxies | undefined): string {
  const { headers } = request;
  const host = target.authority || headers[":authority"]?.toString() || headers.host || localAddress(request);
  const isFromProxy = isTrusted(request, trusted);
  const forwarded = (name: string, valid: RegExp) => {
    const value = isFromProxy ? headers[name]?.toString().split(",")[0]?.trim() : undefined;
    return value !== undefined && valid.test(value) ? value : undefined;
  };
  if (!HOST.test(host)) throw new Refusal(400);
  const prefix = forwarded("x-forwarded-prefix", PREFIX)?.replace(/\/$/, "") ?? "";
  return `${schemeOf(request, isFromProxy)}://${forwarded("x-forwarded-host", HOST) ?? host}${prefix}`;
}

/** For HTTP/1.0, which may omit the host. */
function localAddress({ socket: { localAddress = "localhost", localPort } }: Request): string {
  return `${localAddress.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
}
