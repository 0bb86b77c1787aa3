import { type AuthRequest, type ClientCertificate, certificateName } from "../../access/auth-request.ts";
import { type Caller, requirePermission } from "../../access/caller.ts";
import { unauthenticated } from "../../access/credentials.ts";
import { isWrite, OPEN_PERMISSIONS, type Permission } from "../../access/permission.ts";
import { allowedHosts } from "../../common/allowed-hosts.ts";
import { ActuatorError } from "../../common/error.ts";
import type { CallObserver, CallProtocol } from "../../operations/calls/call-record.ts";
import { type Cors, isCrossSiteWrite, isPreflight } from "./cors.ts";
import { type GateRequest, type GateResponse, headerOf, hostOf, originOf, type Peer } from "./request.ts";
import { RequestContext } from "./request-context.ts";

/** Authenticates and authorizes callers, as `Access` does. */
export interface Authenticator {
  /** Whether client certificates authenticate, so that one that cannot be used is an error. */
  readonly usesCertificates?: boolean;
  /** The values of `WWW-Authenticate`. */
  readonly challenges: readonly string[];
  authenticate(request: AuthRequest): Caller | Promise<Caller>;
  /** Allows a caller one operation that needs one of the permissions. */
  authorize(caller: Caller, ...permissions: readonly Permission[]): Caller;
  /** Whether the caller's credentials are still valid. */
  isStillValid(caller: Caller): boolean;
  /** Whether those that are not have expired, rather than been revoked. */
  isExpired(caller: Caller): boolean;
}

/** What the gate decides by. */
export interface GateOptions {
  readonly peer: Peer;
  /** Default: every caller has all permissions. */
  readonly access?: Authenticator | undefined;
  /** Whether callers must authenticate. Default false: only this machine may call. */
  readonly authenticated?: boolean | undefined;
  /** Whether this machine may also call a mounted handler without authentication. Default false: there, only health is answered. */
  readonly loopback?: boolean | undefined;
  /** Hosts that requests may name, see `allowedHosts`. Default: this machine's own names; any if callers must authenticate. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Default: no page of another origin may call. */
  readonly cors?: Cors | undefined;
  /** Origins of monitoring servers, which pass on what their own pages sent. */
  readonly monitors?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  /** Receives every call that has ended. */
  readonly observer?: CallObserver | undefined;
  /** Called for every request whose caller has authenticated and has the permission. */
  readonly onAuthenticated?: ((request: GateRequest) => void) | undefined;
}

/** What every request of REST, RPC and OTLP passes before its body is read. */
export interface Gate {
  /** Whether operations that change something are refused. */
  readonly readOnly: boolean;
  /** The value of `WWW-Authenticate` in an answer of 401. */
  readonly challenge: string | undefined;
  /** Begins the context of a request, and sets the headers of CORS on its response. */
  begin(request: GateRequest, response: GateResponse, protocol: CallProtocol): RequestContext;
  /**
   * Refuses what no caller may do: name a foreign host, write from a page of another site and, without access control, call from another
   * machine or a mounted handler.
   *
   * @param isPublic whether the operation has an answer for everyone, which a mounted handler gives to any direct request
   * @throws ActuatorError PERMISSION_DENIED
   */
  enter(context: RequestContext, isPublic?: boolean): void;
  /** @throws ActuatorError UNAVAILABLE after {@link close} */
  requireOpen(): void;
  /** Answers a preflight from an allowed origin; returns false for any other request, without an effect. */
  answerPreflight(context: RequestContext, response: GateResponse): boolean;
  /**
   * Authenticates the caller and requires one of the permissions. Synchronous unless a JWT or a function of the application decides.
   *
   * @throws ActuatorError UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED (too many requests), UNAVAILABLE, also for every
   *   request after {@link close}
   */
  admit(context: RequestContext, permissions: readonly Permission[]): Caller | Promise<Caller>;
  /**
   * Requires a further permission of an admitted caller, for what the message of a request asks. Counts writes; in the call log the
   * permission replaces that of the operation.
   *
   * @throws ActuatorError UNAUTHENTICATED, PERMISSION_DENIED (also READ_ONLY), RESOURCE_EXHAUSTED (too many writes)
   */
  require(context: RequestContext, ...permissions: readonly Permission[]): void;
  /**
   * Why an admitted caller's credentials are no longer valid: tokens can be revoked, and certificates expire, during a stream. Undefined
   * while they are.
   */
  credentialsFault(context: RequestContext): ActuatorError | undefined;
  /** Whether callers must authenticate and this one did not. */
  isAnonymous(context: RequestContext): boolean;
  /** Refuses every request from now on, because the actuator closes. */
  close(): void;
}

/** Creates the gate that REST, RPC and OTLP share. */
export function createGate(options: GateOptions): Gate {
  const { peer, access, authenticated = false, loopback = false, cors, readOnly = false } = options;
  const { observer = () => undefined, monitors = [] } = options;
  const isHost = allowedHosts(options.allowedHosts);
  const hostsAreListed = options.allowedHosts !== undefined;
  const originFor = originOf(peer);
  let closed = false;

  const authRequestOf = ({ request, origin }: RequestContext): AuthRequest => ({
    address: origin.address,
    authorization: headerOf(request, "authorization"),
    // Read late: the certificate may have expired by the time the application's function is asked again.
    get certificate() {
      return peer.certificate(request);
    },
    header: (name) => headerOf(request, name),
  });

  // An expired certificate must not fall back to anonymous access.
  const isCertificateExpired = (request: GateRequest) =>
    peer.hasExpiredCertificate(request) &&
    (peer.isCertificateRequired(request) || headerOf(request, "authorization") === undefined);

  const certificateExpired = (context: RequestContext): ActuatorError => {
    const { certificate, fault } = peer.unusableCertificate(context.request)!;
    // The client can present a newer certificate only on a new connection.
    context.endConnection();
    return expiredCertificate(nameOf(context, certificate, fault));
  };

  /** The name of a certificate that is refused, which the call log has too. */
  const nameOf = (context: RequestContext, certificate: ClientCertificate, fault: string): string => {
    const name = certificateName(certificate);
    context.certificate = `${name} (${fault})`;
    return name;
  };

  /** A certificate that TLS could not verify must not fall back to anonymous access either. */
  const unusableCertificate = (context: RequestContext): ActuatorError | undefined => {
    const unusable = peer.unusableCertificate(context.request);
    if (unusable === undefined) return undefined;
    const name = nameOf(context, unusable.certificate, unusable.fault);
    const message = `The client certificate "${name}" cannot be used: ${unusable.fault}.`;
    return unauthenticated(message, "CERTIFICATE_UNUSABLE");
  };

  /** Why the request is refused whatever it asks for; undefined if it is not. */
  const refusalOf = ({ request, origin }: RequestContext): ActuatorError | undefined => {
    // A client certificate authenticates as well, and TLS makes DNS rebinding impossible.
    const presentedCertificate = () => !origin.isMounted && peer.certificate(request) !== undefined;
    const requiresAuthentication = () => authenticated || presentedCertificate();
    if (origin.isMounted && !authenticated && !loopback) return notConfigured();
    if (!origin.isLocal && !requiresAuthentication()) return notLocal();
    const host = hostOf(request);
    // HTTP/1.0 may omit the host, but no browser uses it; no browser reaches a Unix socket either.
    const isNamed = host !== undefined && origin.address !== undefined;
    return isNamed && !isHost(host) && (hostsAreListed || !requiresAuthentication()) ? wrongHost() : undefined;
  };

  const requireOpen = () => {
    if (closed) throw shuttingDown();
  };

  return {
    readOnly,
    requireOpen,
    challenge: access?.challenges.join(", "),
    begin(request, response, protocol) {
      cors?.decorate(request, response);
      return new RequestContext(request, response, protocol, originFor(request), observer);
    },
    enter(context, isPublic = false) {
      const { request, origin } = context;
      const refusal = refusalOf(context);
      if (refusal !== undefined) {
        if (isCertificateExpired(request)) throw certificateExpired(context);
        const unusable = origin.isMounted ? undefined : unusableCertificate(context);
        if (unusable !== undefined) throw unusable;
        // Probes come from other machines and name the address of this one.
        const isProbe = isPublic && origin.isMounted && !authenticated && !peer.isForwarded(request);
        if (!isProbe) throw refusal;
        context.refusal = refusal;
      }
      if (isCrossSiteWrite(request, monitors) && !cors?.allows(request)) throw crossSite();
    },
    answerPreflight(context, response) {
      if (!isPreflight(context.request) || !cors?.allows(context.request)) return false;
      // begin() has set the headers.
      response.statusCode = 204;
      response.end();
      context.end("OK");
      return true;
    },
    admit(context, permissions) {
      requireOpen();
      context.permission = permissions[0];
      if (context.refusal !== undefined) throw context.refusal;
      if (isCertificateExpired(context.request)) throw certificateExpired(context);
      if (access === undefined) {
        context.caller = callerWithoutAccess(context, peer);
        requirePermission(context.caller, ...permissions);
        return context.caller;
      }
      const authorize = (caller: Caller) => {
        context.caller = caller;
        const authorized = access.authorize(caller, ...permissions);
        if (caller.authentication !== "none") options.onAuthenticated?.(context.request);
        return authorized;
      };
      const decides = access.usesCertificates && headerOf(context.request, "authorization") === undefined;
      const unusable = decides ? unusableCertificate(context) : undefined;
      if (unusable !== undefined) throw unusable;
      try {
        const caller = access.authenticate(authRequestOf(context));
        return caller instanceof Promise ? caller.then(authorize) : authorize(caller);
      } catch (error) {
        const certificate = decides && context.caller === undefined ? peer.certificate(context.request) : undefined;
        if (certificate === undefined || (error as ActuatorError).code !== "UNAUTHENTICATED") throw error;
        const name = nameOf(context, certificate, "no rule");
        throw unauthenticated(`No rule of this server matches the client certificate "${name}".`);
      }
    },
    require(context, ...permissions) {
      requireOpen();
      context.permission = permissions[0];
      if (readOnly && permissions.every(isWrite)) throw changesRefused();
      const caller = context.caller!;
      if (access === undefined) requirePermission(caller, ...permissions);
      else access.authorize(caller, ...permissions);
    },
    credentialsFault(context) {
      const { caller, request } = context;
      if (caller === undefined) return undefined;
      const isGone = caller.authentication === "certificate" && peer.certificate(request) === undefined;
      if (isGone || isCertificateExpired(request)) {
        const { certificate, fault } = peer.unusableCertificate(request) ?? {};
        return expiredCertificate(certificate ? nameOf(context, certificate, fault!) : caller.name);
      }
      if (access === undefined || access.isStillValid(caller)) return undefined;
      return access.isExpired(caller)
        ? unauthenticated("The credentials have expired.", "CREDENTIALS_EXPIRED")
        : unauthenticated("Credentials were revoked.", "CREDENTIALS_REVOKED");
    },
    isAnonymous: ({ caller, refusal }) =>
      (authenticated || refusal !== undefined) && (caller === undefined || caller.authentication === "none"),
    close() {
      closed = true;
    },
  };
}

/** Without access control every caller has all permissions but those that are granted by name, and is named by its certificate or address. */
function callerWithoutAccess({ request, origin: { address } }: RequestContext, peer: Peer): Caller {
  const certificate = peer.certificate(request);
  const name = certificate && certificateName(certificate);
  return name
    ? { name, authentication: "certificate", permissions: OPEN_PERMISSIONS }
    : { name: address ?? "local", authentication: "none", permissions: OPEN_PERMISSIONS };
}

function expiredCertificate(name: string): ActuatorError {
  const message = `The client certificate "${name}" of this connection has expired or was revoked.`;
  return unauthenticated(message, "CREDENTIALS_EXPIRED");
}

function notLocal(): ActuatorError {
  const message =
    "Without access control, only direct requests from this machine are accepted. Configure tokens, jwt, certificates or authorize (option access).";
  return new ActuatorError("PERMISSION_DENIED", "NOT_LOCAL", message);
}

/** Behind a proxy that adds no headers, clients of a mounted handler look like this machine. */
export const MOUNTED_WITHOUT_ACCESS =
  'A handler that is mounted in a server of the application answers only health without access control. Configure tokens, jwt, certificates or authorize (option access), or set access: "loopback" to trust this machine and every proxy on it.';

function notConfigured(): ActuatorError {
  return new ActuatorError("PERMISSION_DENIED", "ACCESS_NOT_CONFIGURED", MOUNTED_WITHOUT_ACCESS);
}

function shuttingDown(): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "This actuator is closed.");
}

/** What a read-only actuator answers to a call that would change something. */
export function changesRefused(): ActuatorError {
  return new ActuatorError("PERMISSION_DENIED", "READ_ONLY", "This actuator is read-only.");
}

function wrongHost(): ActuatorError {
  const message = "The request names a host that is not allowed (option allowedHosts).";
  return new ActuatorError("PERMISSION_DENIED", "HOST_NOT_ALLOWED", message);
}

function crossSite(): ActuatorError {
  const message =
    "Pages of other sites must not change anything here: the Origin of the request is not this service's. The option cors allows origins.";
  return new ActuatorError("PERMISSION_DENIED", "CROSS_SITE", message);
}
