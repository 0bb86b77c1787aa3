import { Access } from "./access/access.ts";
import { type AccessOption, type AccessOptions, mechanismsOf } from "./access/options.ts";
import { cors } from "./http/gate/cors.ts";
import type { CorsOptions } from "./http/gate/cors-options.ts";
import { createGate, type Gate } from "./http/gate/gate.ts";
import type { SecurityScheme } from "./http/openapi/document.ts";
import type { CallObserver } from "./operations/calls/call-record.ts";
import {
  clientCertificate,
  hasExpiredCertificate,
  isCertificateRequired,
  unusableCertificate,
} from "./server/client-certificate.ts";
import { carrierOf, isOnOwnPort, markAuthenticated } from "./server/connections.ts";
import type { ServerErrorHandler } from "./server/guard.ts";
import { clientAddress, isForwarded, isNamedByProxy, isTrusted, schemeOf, type TrustedProxies } from "./server/peer.ts";

/** Who is let in, and to what. */
export interface GateSettings {
  readonly access?: AccessOption | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly cors?: CorsOptions | undefined;
  /** The addresses of monitoring servers that this actuator registers with. */
  readonly monitors?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly trusted: TrustedProxies;
  readonly observers: readonly CallObserver[];
  readonly onError: ServerErrorHandler;
}

/** The gate of an actuator, and what stands behind it. */
export interface GuardedGate {
  readonly gate: Gate;
  /** Whether callers must authenticate, so that the port may be open to other machines. */
  readonly authenticated: boolean;
  /** Resolves when all that decides is loaded. */
  ready(): Promise<void>;
  /** Refuses every request from now on, and stops following files. */
  close(): void;
  /** How callers can authenticate. */
  readonly schemes: readonly SecurityScheme[];
}

/**
 * Puts the gate together.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not fit, and for a file of tokens or keys, or of JWTs that were
 *   revoked, that cannot be used.
 */
export function guardedGate(settings: GateSettings): GuardedGate {
  const { trusted, observers, onError } = settings;
  const loopback = settings.access === "loopback";
  const access =
    settings.access === undefined || settings.access === "loopback" ? undefined : new Access(settings.access, onError);
  const authenticated = access?.authenticates ?? false;
  const gate = createGate({
    access,
    authenticated,
    loopback,
    allowedHosts: settings.allowedHosts,
    cors: settings.cors && cors(settings.cors),
    monitors: settings.monitors?.map((url) => new URL(url).origin),
    readOnly: settings.readOnly,
    peer: {
      connection: carrierOf,
      address: (request) => clientAddress(request, trusted),
      isForwarded,
      isNamedByProxy: (request) => isNamedByProxy(request, trusted),
      scheme: (request) => schemeOf(request, isTrusted(request, trusted)),
      certificate: clientCertificate,
      unusableCertificate,
      hasExpiredCertificate,
      isCertificateRequired,
      isOnOwnPort,
    },
    observer: (record) => {
      for (const observe of observers) observe(record);
    },
    onAuthenticated: markAuthenticated,
  });
  return {
    gate,
    authenticated,
    ready: async () => access?.ready(),
    close() {
      gate.close();
      access?.close();
    },
    schemes: schemesOf(mechanismsOf(settings.access)),
  };
}

function schemesOf({ tokens, jwt, certificates, authorize, basic = true }: AccessOptions): readonly SecurityScheme[] {
  const schemes: SecurityScheme[] = [];
  if ((tokens ?? jwt ?? authorize) !== undefined) schemes.push("bearer");
  if (tokens !== undefined && basic) schemes.push("basic");
  if (certificates !== undefined) schemes.push("mutualTLS");
  return schemes;
}
