import { createGate } from "../../src/gate/gate.ts";

/** A gate for faces that stand by themselves: it asks nobody who they are, and so lets this machine in. */
export const OPEN_GATE = createGate({
  peer: {
    connection: (request) => request.socket,
    address: (request) => request.socket.remoteAddress,
    isForwarded: () => false,
    isNamedByProxy: () => false,
    scheme: () => "http",
    certificate: () => undefined,
    hasLapsed: () => false,
    isCertificateRequired: () => false,
    isOnOwnPort: () => true,
  },
  allowedHosts: ["*"],
});
