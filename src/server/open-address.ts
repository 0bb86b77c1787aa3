import { logLine } from "../common/log-line.ts";
import type { ListenAddress } from "./address.ts";
import { fileMode, type ListenOptions } from "./listen-options.ts";
import { requiresCertificates } from "./tls-options.ts";

/** Writes one line of JSON that says who can reach an address whose callers need no credentials. */
export function openAddressLine({ url }: ListenAddress, options: ListenOptions): string {
  const reachedBy = `${callersOf(options)}; set access to require credentials, or access: "loopback" to accept this`;
  return logLine("info", new Date().toISOString(), "listening without access control", { url, reachedBy });
}

function callersOf({ path, mode = 0o600, tls }: ListenOptions): string {
  if (path !== undefined) return `every program that may open the socket (mode 0${fileMode(mode)!.toString(8)})`;
  if (requiresCertificates(tls)) return "every client with a certificate of tls.ca";
  return "every program on this machine, and every client of a proxy on it that adds no forwarding headers";
}
