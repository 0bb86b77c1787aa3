import { createGate, type GateOptions } from "../../src/http/gate/gate.ts";

/** What a connection on this machine, without TLS or a proxy, says of whoever calls. */
export const LOCAL_PEER: GateOptions["peer"] = {
  connection: (request) => request.socket,
  address: (request) => request.socket.remoteAddress,
  isForwarded: () => false,
  isNamedByProxy: () => false,
  scheme: () => "http",
  certificate: () => undefined,
  hasExpiredCertificate: () => false,
  isCertificateRequired: () => false,
  isOnOwnPort: () => true,
};

/** A gate for faces that stand by themselves: it asks nobody who they are, and so lets this machine in. */
export const OPEN_GATE = createGate({ peer: LOCAL_PEER, allowedHosts: ["*"] });
