import { isIP, SocketAddress } from "node:net";

/**
 * An IP address as it is compared and counted: IPv6 in its shortest form, an IPv4 address inside of IPv6 as IPv4, no zone.
 * Undefined for what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version !== 6) return undefined;
  const { address } = new SocketAddress({ address: text.replace(/%.*$/, ""), family: "ipv6" });
  return /^::ffff:(\d+(?:\.\d+){3})$/.exec(address)?.[1] ?? address;
}
