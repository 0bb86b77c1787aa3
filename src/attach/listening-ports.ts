import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A TCP port at which a process listens. */
export interface ListeningPort {
  readonly port: number;
  /** How it is reached from this machine, such as `127.0.0.1:9229`. */
  readonly address: string;
}

const LISTEN = "0A";

/** The TCP ports that this very process listens at, in its network namespace. */
export function listeningPorts(pid: number): readonly ListeningPort[] {
  const all = ["tcp", "tcp6"].flatMap((table) => listeners(`/proc/${pid}/net/${table}`));
  const sockets = socketsOf(pid);
  return all.filter(({ inode }) => sockets.has(inode));
}

/** Whether any process listens at this port. */
export function isPortTaken(port: number): boolean {
  return ["tcp", "tcp6"].flatMap((table) => listeners(`/proc/self/net/${table}`)).some((each) => each.port === port);
}

function listeners(table: string): (ListeningPort & { readonly inode: string })[] {
  let text: string;
  try {
    text = readFileSync(table, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[3] === LISTEN)
    .map((columns) => {
      const [host = "", hexPort = ""] = columns[1]!.split(":");
      const port = Number.parseInt(hexPort, 16);
      return { port, address: `${reachableHost(host)}:${port}`, inode: columns[9]! };
    });
}

/** An address in hexadecimal, in words of the processor's byte order, as a host to connect to. */
function reachableHost(hex: string): string {
  const bytes = hex.match(/.{8}/g)!.flatMap((word) => word.match(/../g)!.reverse());
  const isAny = bytes.every((byte) => byte === "00");
  if (bytes.length === 4) return isAny ? "127.0.0.1" : bytes.map((byte) => Number.parseInt(byte, 16)).join(".");
  return isAny ? "[::1]" : `[${bytes.join("").match(/.{4}/g)!.join(":")}]`;
}

function socketsOf(pid: number): ReadonlySet<string> {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).map((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1];
    } catch {
      return undefined;
    }
  });
  return new Set(links.filter((inode) => inode !== undefined));
}
