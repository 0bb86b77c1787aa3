import { isTrusted, schemeOf, type TrustedProxies } from "../../server/peer.ts";
import type { Call, Request } from "./operation.ts";
import { Refusal } from "./problem.ts";

const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i;
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*\/?$/;

/**
 * The address that the caller sees before the base path, such as `https://example.test:81/prefix`: from the `Host` of the
 * request, and from `X-Forwarded-Host`, `-Proto` and `-Prefix` where a trusted proxy sent it.
 *
 * @throws Refusal 400 without a body for a host that is none.
 */
export function requestOrigin({ request, target }: Call, trusted: TrustedProxies | undefined): string {
  const { headers } = request;
  const host = target.authority || headers[":authority"]?.toString() || headers.host || localAddress(request);
  const believed = isTrusted(request, trusted);
  const forwarded = (name: string, valid: RegExp) => {
    const value = believed ? headers[name]?.toString().split(",")[0]?.trim() : undefined;
    return value !== undefined && valid.test(value) ? value : undefined;
  };
  if (!HOST.test(host)) throw new Refusal(400);
  const prefix = forwarded("x-forwarded-prefix", PREFIX)?.replace(/\/$/, "") ?? "";
  return `${schemeOf(request, believed)}://${forwarded("x-forwarded-host", HOST) ?? host}${prefix}`;
}

/** HTTP/1.0 need not name a host. */
function localAddress({ socket: { localAddress = "localhost", localPort } }: Request): string {
  return `${localAddress.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
}
