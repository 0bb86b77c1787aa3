import { BoundedCache } from "../../common/bounded-cache.ts";
import { isLoopback } from "../../common/ip-address/loopback.ts";

/** Tells whether a request may name this host. */
export type AllowedHosts = (host: string) => boolean;

/** A host, with or without a port: the host is the first group. */
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]/?#@\s]+)(?::\d{0,5})?$/i;

/**
 * The hosts that requests may name. A page that points a name of its own at this machine (DNS rebinding) is same-origin for
 * the browser, but cannot name another host than its own.
 *
 * @param names `actuator.example.com`, or `*.example.com` for all below it; ports do not matter. Undefined: the names of
 *   the machine for itself (`localhost`, those below it, 127.0.0.0/8 and `[::1]`).
 */
export function allowedHosts(names: readonly string[] | undefined): AllowedHosts {
  const exact = new Set((names ?? []).filter((name) => !name.startsWith("*")).map(bare));
  const suffixes = (names ?? []).filter((name) => name.startsWith("*.")).map((name) => name.slice(1).toLowerCase());
  if (names?.includes("*")) return () => true;
  // Clients say the same few hosts again and again.
  const known = new BoundedCache((host) => {
    const name = HOST.exec(host)?.[1];
    if (name === undefined) return false;
    const plain = bare(name);
    if (names === undefined) return isLoopback(plain) || plain.endsWith(".localhost");
    return exact.has(plain) || suffixes.some((suffix) => plain.endsWith(suffix));
  });
  return (host) => known.get(host);
}

/** Lower case, without the brackets of IPv6 and the dot that ends a fully qualified name. */
function bare(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
