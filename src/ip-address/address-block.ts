import { isIP } from "node:net";

/**
 * What limits count as one client: an IPv4 address, or the 64 bits of an IPv6 address that a network gives to one site, who
 * may choose among all addresses in it (RFC 4291 §2.5.4). What comes over a Unix socket is one.
 */
export function addressBlock(address: string | undefined): string {
  if (address === undefined) return "unix";
  if (isIP(address) !== 6) return address.slice(0, 64);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  const [head = "", tail] = address.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  // An IPv4 address at the end takes the place of two groups.
  const written = before.length + after.length + (address.includes(".") ? 1 : 0);
  const groups = [...before, ...Array.from({ length: Math.max(0, 8 - written) }, () => "0"), ...after];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
