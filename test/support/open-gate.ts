import { Access } from "../../src/access/access.ts";
import { createGate, type GateOptions } from "../../src/http/gate/gate.ts";

/** The connection of a caller on this machine, without TLS or a proxy. */
export const LOCAL_PEER: GateOptions["peer"] = {
  connection: (request) => request.socket,
  address: (request) => request.socket.remoteAddress,
  isForwarded: () => false,
  isNamedByProxy: () => false,
  scheme: () => "http",
  certificate: () => undefined,
  unusableCertificate: () => undefined,
  hasExpiredCertificate: () => false,
  isCertificateRequired: () => false,
  isOnOwnPort: () => true,
};

/** A gate without access control, for tests of REST and RPC alone: it admits this machine. */
export const OPEN_GATE = createGate({ peer: LOCAL_PEER, allowedHosts: ["*"] });

/** The same for tests of log records, which only their name grants. */
export const LOGS_GATE = createGate({
  peer: LOCAL_PEER,
  access: new Access({ anonymous: ["*", "logs:read"] }),
  allowedHosts: ["*"],
});
