import { isIP } from "node:net";

/**
 * What limits count as one client: an IPv4 address, or the 64 bits of an IPv6 address that a network gives to one site, who
 * may choose among all addresses in it (RFC 4291 §2.5.4). What comes over a Unix socket is one.
 *
 * @param bits how many are counted as one network: 64, or the 48 that are the most that one customer gets (RFC 6177 §2)
 */
export function addressBlock(address: string | undefined, bits: 48 | 64 = 64): string {
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
  const network = groups.slice(0, bits / 16).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/${bits}`;
}
