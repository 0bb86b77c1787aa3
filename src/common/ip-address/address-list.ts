import { BlockList, isIP } from "node:net";

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
