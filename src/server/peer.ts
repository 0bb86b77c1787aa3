import type { Http2ServerRequest } from "node:http2";
import { isIP, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { BoundedCache } from "../common/bounded-cache.ts";
import { canonicalAddress } from "../common/ip-address.ts";
import type { ServerRequest } from "./handler.ts";

/** Whether the peer with this IP address is a proxy whose statements about its clients are trusted. */
export type TrustedProxies = (address: string) => boolean;

/** Whether a request came over TLS. A Unix socket or a proxy's header does not count. */
export function isEncrypted(req: ServerRequest): boolean {
  return encryptedSocket(req) !== undefined;
}

/**
 * The scheme that the client uses: that of the connection, or `X-Forwarded-Proto`.
 *
 * @param believed whether the sender of that header is trusted, see {@link isTrusted}
 */
export function schemeOf(req: ServerRequest, believed: boolean): "http" | "https" {
  const [told] = believed ? `${req.headers["x-forwarded-proto"] ?? ""}`.toLowerCase().split(/ *,/) : [];
  if (told === "http" || told === "https") return told;
  return isEncrypted(req) ? "https" : "http";
}

/** Whether the peer of the connection is a trusted proxy. */
export function isTrusted({ socket }: ServerRequest, trusted: TrustedProxies | undefined): boolean {
  return trusted?.(canonicalAddress(socket.remoteAddress ?? "") ?? "") === true;
}

/**
 * The IP address of the client: that of the socket or, where that is a trusted proxy, the nearest one on the way that is
 * not. A hop that cannot be read ends the search at the proxy that named it. IPv4 addresses inside of IPv6 come as IPv4.
 * Undefined over a Unix socket; an empty text, which is no address of this machine, once the connection is gone or reset.
 */
export function clientAddress(req: ServerRequest, trusted: TrustedProxies): string | undefined {
  return clientOf(req, trusted).address;
}

/**
 * Whether a trusted proxy has named the client by an address. One that hides it (`for=unknown`), or lets a second header
 * through that says otherwise, leaves only its own: that of the proxy, and not of who asks.
 */
export function isNamedByProxy(req: ServerRequest, trusted: TrustedProxies): boolean {
  return clientOf(req, trusted).isNamed;
}

function clientOf(req: ServerRequest, trusted: TrustedProxies) {
  let address = canonicalAddress(req.socket.remoteAddress ?? "");
  if (address === undefined) return { address: isOnUnixSocket(req) ? undefined : "", isNamed: false };
  if (!trusted(address)) return { address, isNamed: false };
  const hops = forwardedHops(req);
  for (const hop of hops) {
    if (hop === undefined) return { address, isNamed: false };
    address = hop;
    if (!trusted(address)) return { address, isNamed: true };
  }
  return { address, isNamed: hops.length > 0 };
}

/**
 * Whether a request came over a Unix socket. That its connection has no address does not say so: one that its client has reset
 * has none either, long before Node tells of the reset, and what was sent before is still read and answered.
 */
function isOnUnixSocket(req: ServerRequest): boolean {
  if (isGone(req)) return false;
  return req.socket.localAddress === undefined && typeof serverOf(req)?.address() === "string";
}

/** Whether the connection has ended, so that nothing is known about it any more. */
function isGone(req: ServerRequest): boolean {
  const { stream } = req as Http2ServerRequest;
  return stream === undefined ? req.socket.destroyed : stream.session === undefined || stream.session.destroyed;
}

/** The server of a request, which the types of Node.js do not have. */
export function serverOf({ socket }: ServerRequest): Server | undefined {
  return (socket as Socket & { readonly server?: Server }).server;
}

/** The TLS socket under a request, or Node's stand-in for it; undefined without TLS, and once the connection has ended. */
export function encryptedSocket(req: ServerRequest): TLSSocket | undefined {
  if (isGone(req)) return undefined;
  const socket = req.socket as TLSSocket;
  return socket.encrypted === true ? socket : undefined;
}

/** How much of a list of hops is read, from its right end. No honest chain of proxies is longer. */
const MAX_HOPS = 32;
const MAX_LENGTH = 2_048;

/** A hop on the way of a request, as the next hop named it; undefined if that is not an IP address. */
export type Hop = string | undefined;

/**
 * The hops that `X-Forwarded-For` and `Forwarded` (RFC 7239) name, the nearest first. A proxy writes one of the two and
 * hands on the other as its client sent it. So where both are there and do not name the same, neither is believed.
 */
export function forwardedHops({ headers }: ServerRequest): readonly Hop[] {
  const old = headers["x-forwarded-for"];
  const { forwarded } = headers;
  const hops = old === undefined ? undefined : nearest(old.toString().split(","), addressWithPort);
  if (forwarded === undefined) return hops ?? [];
  const named = nearest(
    elementsOf(forwarded).filter((element) => element !== ""),
    forOf,
  );
  return hops === undefined || `${hops}` === `${named}` ? named : [];
}

/**
 * The headers that proxies add about themselves or their client, by who adds them; an asterisk stands for any end. Headers of tracing,
 * such as `traceparent` and `X-Request-Id`, are not among them: clients on this machine send these as well.
 */
const FORWARDING_HEADERS: Readonly<Record<string, readonly string[]>> = {
  "RFC 7239, RFC 9110": ["forwarded", "via"],
  "nginx, HAProxy, Apache, Traefik, load balancers": ["x-forwarded*", "x-real-ip", "x-nginx-proxy", "x-scheme"],
  "older proxies": [
    ...["forwarded-for", "client-ip", "x-client-ip", "x-cluster-client-ip", "x-proxyuser-ip", "x-remote-*"],
    ...["proxy-client-ip", "wl-proxy-client-ip", "front-end-https", "x-url-scheme", "x-original-*", "x-rewrite-url"],
  ],
  "Envoy, Istio": ["x-envoy-*"],
  "Cloudflare, Akamai, Fastly": ["cf-*", "true-client-ip", "cdn-loop", "akamai-*", "x-akamai-*", "fastly-*"],
  "Varnish, Imperva, Sucuri": ["x-varnish", "surrogate-capability", "incap-client-ip", "x-sucuri-clientip"],
  "Azure, IIS, Google, CloudFront": ["x-azure-*", "x-arr-*", "x-appengine-*", "cloudfront-*", "x-amz-cf-id"],
};

const FORWARDING = new RegExp(`^(?:${Object.values(FORWARDING_HEADERS).flat().join("|").replaceAll("*", ".*")})$`);

// Clients repeat the same few names.
const isForwarding = new BoundedCache((name) => FORWARDING.test(name));

/** Whether a request says that it was forwarded. Only `Forwarded` and `X-Forwarded-For` can name the client. */
export function isForwarded({ headers }: ServerRequest): boolean {
  for (const name in headers) if (isForwarding.get(name)) return true;
  return false;
}

function nearest(elements: readonly string[], read: (element: string) => Hop): Hop[] {
  const hops: Hop[] = [];
  let length = 0;
  for (let at = elements.length - 1; at >= 0; at--) {
    const element = elements[at]!;
    length += element.length + 1;
    if (length > MAX_LENGTH || hops.length === MAX_HOPS) return [...hops, undefined];
    hops.push(read(element.replace(/^[ \t]+|[ \t]+$/g, "")));
  }
  return hops;
}

const ADDRESS = /^(?:\[(?<ipv6>[0-9a-f:.]+)\]|(?<ipv4>[0-9.]+))(?::\d{1,5})?$|^(?<bare>[0-9a-f:.]+)$/i;

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:4711`. A zone is none of our network's. */
function addressWithPort(text: string): Hop {
  const { ipv6, ipv4, bare } = ADDRESS.exec(text)?.groups ?? {};
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return undefined;
  return canonicalAddress(ipv6 ?? ipv4 ?? bare ?? "");
}

const PART = /[^,"]+|,|"(?:[^"\\]|\\.)*(?:(?<end>")|\\?$)/gs;

/**
 * The elements of a `Forwarded` header. A comma inside of quotes is part of a value; behind a quote without an end, none is
 * quoted. Each character is read once, because the header is untrusted.
 */
function elementsOf(header: string): string[] {
  const elements = [""];
  for (const { 0: part, index, groups } of header.matchAll(PART)) {
    if (part === ",") elements.push("");
    else if (part.startsWith('"') && groups?.end === undefined) return joined(elements, header.slice(index).split(","));
    else elements.push(elements.pop() + part);
  }
  return elements;
}

/** The lists one after the other, the end of the first and the beginning of the second being one element. */
function joined(first: readonly string[], [begin, ...rest]: readonly string[]): string[] {
  return [...first.slice(0, -1), `${first.at(-1)}${begin}`, ...rest];
}

const PAIR = /^[ \t]*(?<name>[\w!#$%&'*+.^`|~-]+)=(?:"(?<quoted>[^"\\]*)"|(?<token>[\w!#$%&'*+.^`|~-]+))[ \t]*$/;

/** The node that an element names by `for`; undefined for one that hides it, names none or two, or is malformed. */
function forOf(element: string): Hop {
  const pairs = element.split(";").map((pair) => PAIR.exec(pair)?.groups);
  if (pairs.includes(undefined)) return undefined;
  const [node, ...others] = pairs.filter((pair) => pair!.name!.toLowerCase() === "for");
  return node === undefined || others.length > 0 ? undefined : addressWithPort(node.quoted ?? node.token ?? "");
}
