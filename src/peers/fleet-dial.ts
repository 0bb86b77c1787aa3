import { hostname } from "node:os";
import type { Transport } from "@connectrpc/connect";
import { allowedHosts } from "../common/allowed-hosts.ts";
import { ActuatorError } from "../common/error.ts";
import { isLoopback } from "../common/ip-address.ts";
import { httpAddress } from "../common/options.ts";
import type { FleetInstance } from "../fleet/instance.ts";
import type { FleetPeersOptions } from "../fleet/options.ts";

/** Reaches other instances of a fleet at the addresses that they gave, if these are allowed. */
export function fleetDial(
  { token, hosts, ca }: FleetPeersOptions = {},
  onError: (error: unknown, context: string) => void = () => {},
): (instance: FleetInstance) => Promise<Transport> {
  let isTold = token === undefined;
  const isAllowed = hosts === undefined ? () => true : allowedHosts(hosts);
  return async ({ address, host }) => {
    if (address === undefined) throw unreachable("it gave no address: set `fleet.address` there");
    const url = URL.parse(address);
    if (url === null || httpAddress(address) !== undefined) throw unreachable("its address is not one of HTTP");
    // Here it would lead to this machine.
    const isHere = isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
    if (isHere && host !== hostname()) {
      throw unreachable("its address is good on its own machine only: set `fleet.address` there");
    }
    if (!isAllowed(url.hostname)) {
      throw unreachable(`its host is not in \`fleet.peers.hosts\` here: ${url.hostname}`);
    }
    if (!isTold && url.protocol === "http:" && !isHere) {
      isTold = true;
      onError(new Error(`${CLEARTEXT}: ${url.host}`), "fleet.peers.token");
    }
    // Most processes call no other.
    const { authoritiesWith, clientTransport, MAX_PEER_ANSWER_BYTES } = await import("./client-transport.ts");
    const tls = ca === undefined ? undefined : { ca: authoritiesWith(ca) };
    return clientTransport({ url: address, token, tls, maxAnswerBytes: MAX_PEER_ANSWER_BYTES });
  };
}

const CLEARTEXT =
  "the token is sent unencrypted to other instances; give them addresses with https, unless a service mesh or a tunnel encrypts";

function unreachable(reason: string): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "INSTANCE_NOT_ASKED", reason);
}
