import { BoundedCache } from "./bounded-cache.ts";
import { isLoopback } from "./ip-address.ts";
import { type Check, listOf } from "./options.ts";

/** Tells whether a request may name this host. */
export type AllowedHosts = (host: string) => boolean;

/** A host with an optional port; the first group is the host. */
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]/?#@\s]+)(?::\d{0,5})?$/i;

/** A list of names for {@link allowedHosts}. */
export function hostList(example: string): Check {
  const fault = `must be a host name without a port, such as "${example}" or "*.example.com"`;
  return listOf((entry) =>
    typeof entry === "string" && /^(?:\*|(?:\*\.)?(?:\[[0-9a-f:.]+\]|[\w.-]+))$/i.test(entry) ? undefined : fault,
  );
}

/**
 * Makes the check of the hosts that requests name. It prevents DNS rebinding: a page whose name resolves to this machine is same-origin
 * for the browser, but cannot send another host than its own name.
 *
 * @param names `actuator.example.com`, or `*.example.com` for all names below it; ports are ignored. Undefined: the machine's own
 *   names (`localhost`, names below it, 127.0.0.0/8 and `[::1]`).
 */
export function allowedHosts(names: readonly string[] | undefined): AllowedHosts {
  const exact = new Set((names ?? []).filter((name) => !name.startsWith("*")).map(bare));
  const suffixes = (names ?? []).filter((name) => name.startsWith("*.")).map((name) => name.slice(1).toLowerCase());
  if (names?.includes("*")) return () => true;
  // Clients repeat the same few hosts.
  const known = new BoundedCache((host) => {
    const name = HOST.exec(host)?.[1];
    if (name === undefined) return false;
    const plain = bare(name);
    if (names === undefined) return isLoopback(plain) || plain.endsWith(".localhost");
    return exact.has(plain) || suffixes.some((suffix) => plain.endsWith(suffix));
  });
  return (host) => known.get(host);
}

/** Lower case, without the brackets of IPv6 and the final dot of a fully qualified name. */
function bare(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
