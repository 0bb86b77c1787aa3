import { BlockList, isIP, SocketAddress } from "node:net";

/**
 * An IP address as it is compared and counted: IPv6 in its shortest form, an IPv4 address inside of IPv6 as IPv4, no zone.
 * Undefined if it is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version !== 6) return undefined;
  const { address } = new SocketAddress({ address: text.replace(/%.*$/, ""), family: "ipv6" });
  return /^::ffff:(\d+(?:\.\d+){3})$/.exec(address)?.[1] ?? address;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for `localhost`, 127.0.0.0/8 and `::1`, with or without the brackets of a URL, which only this machine reaches. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(bare);
  if (family === 0) return bare.toLowerCase() === "localhost";
  return loopback.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/** Whether others can read what is sent to this URL, because it is not encrypted and leaves this machine. */
export function isReadableOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopback(hostname);
}

/** An IP network: the addresses that begin with the first `bits` bits of `address`. */
export interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: "ipv4" | "ipv6";
}

/** Reads an address (`::1`) or a network (`10.0.0.0/8`); undefined for what is neither. */
export function networkOf(text: unknown): Network | undefined {
  const match = typeof text === "string" ? /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) : null;
  const version = isIP(match?.[1] ?? "");
  if (match === null || version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = match[2] === undefined ? most : Number(match[2]);
  return bits > most ? undefined : { address: match[1]!, bits, family: version === 4 ? "ipv4" : "ipv6" };
}

/** A test for membership in a list of addresses and networks. Entries that are neither hold nothing. */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of entries.map(networkOf)) {
    if (network !== undefined) list.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}

/**
 * What limits count as one client: an IPv4 address, or the 64 bits of an IPv6 address that a network assigns to one site, which
 * can choose among all addresses in it (RFC 4291 §2.5.4). All connections over a Unix socket are one client.
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
