import { isIP } from "node:net";
import { canonicalAddress } from "../common/ip-address/canonical-address.ts";
import type { ServerRequest } from "./handler.ts";

/** What is read of a list of hops, from its right end. No honest chain of proxies is longer. */
const MAX_HOPS = 32;
const MAX_LENGTH = 2_048;

/** Somebody on the way of a request, as the one behind said it; undefined where that is no IP address. */
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

/** What proxies say of themselves or of their client, be it only to count hops or to tell the scheme. */
const SIGNS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"] as const;

/** Whether a request says that it came through somebody else. Who that was for only the first two can say. */
export function isForwarded({ headers }: ServerRequest): boolean {
  return SIGNS.some((name) => headers[name] !== undefined);
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
 * quoted. Each character is read once: the header is a stranger's.
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
