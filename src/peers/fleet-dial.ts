import { hostname } from "node:os";
import type { Transport } from "@connectrpc/connect";
import { allowedHosts } from "../common/allowed-hosts.ts";
import { ActuatorError } from "../common/error.ts";
import { isLoopback } from "../common/ip-address.ts";
import type { FleetInstance } from "../fleet/instance.ts";
import type { FleetPeersOptions } from "../fleet/options.ts";

/** Reaches other instances of a fleet at the addresses that they gave, if these are allowed. */
export function fleetDial({
  token,
  hosts,
  ca,
}: FleetPeersOptions = {}): (instance: FleetInstance) => Promise<Transport> {
  const isAllowed = hosts === undefined ? () => true : allowedHosts(hosts);
  return async ({ address, host }) => {
    if (address === undefined) throw unreachable("it gave no address: set `fleet.address` there");
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol)) throw unreachable("its address is not one of HTTP");
    // Here it would lead to this machine.
    if (isLoopback(url.hostname.replace(/^\[|\]$/g, "")) && host !== hostname()) {
      throw unreachable("its address is good on its own machine only: set `fleet.address` there");
    }
    if (!isAllowed(url.hostname)) {
      throw unreachable(`its host is not in \`fleet.peers.hosts\` here: ${url.hostname}`);
    }
    // Most processes call no other.
    const { authoritiesWith, clientTransport } = await import("./client-transport.ts");
    return clientTransport({ url: address, token, tls: ca === undefined ? undefined : { ca: authoritiesWith(ca) } });
  };
}

function unreachable(reason: string): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "INSTANCE_NOT_ASKED", reason);
}
