import { BlockList, isIP } from "node:net";

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
