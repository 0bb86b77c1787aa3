import type { AuthRequest } from "../../access/auth-request.ts";
import type { Caller } from "../../access/caller.ts";
import { PERMISSIONS, type Permission } from "../../access/permission.ts";
import { refusal } from "../../access/refusal.ts";
import { ActuatorError } from "../../common/error.ts";
import type { CallObserver, CallProtocol } from "../../operations/calls/call-record.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { originOf, type Peer } from "./connection.ts";
import { type Cors, isPreflight } from "./cors.ts";
import { isCrossSiteWrite } from "./cross-site.ts";
import { type GateRequest, type GateResponse, headerOf, hostOf } from "./request.ts";
import { RequestContext } from "./request-context.ts";

/** Who asks callers who they are. */
export interface Authenticator {
  /** The values of `WWW-Authenticate`. */
  readonly challenges: readonly string[];
  /** Who it is. */
  identify(knock: AuthRequest): Caller | Promise<Caller>;
  /** Lets them do this once. */
  allow(caller: Caller, permission: Permission): Caller;
  /** Whether what they showed still counts. */
  holds(caller: Caller): boolean;
}

/** How the gate decides. */
export interface GateOptions {
  readonly peer: Peer;
  /** Left out, everybody may do everything. */
  readonly access?: Authenticator | undefined;
  /** Whether callers are asked who they are. Default false: only this machine is let in. */
  readonly authenticated?: boolean | undefined;
  /** Hosts that requests may name, see `allowedHosts`. Default: this machine's names for itself; with access control, any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Left out, no page of another origin may call. */
  readonly cors?: Cors | undefined;
  readonly readOnly?: boolean | undefined;
  /** Hears of every call that is over. */
  readonly observer?: CallObserver | undefined;
  /** Hears of every request whose caller said who they are and is let in. */
  readonly onAuthenticated?: ((request: GateRequest) => void) | undefined;
}

/** What every request passes before its body is read, whichever face answers it. */
export interface Gate {
  /** Whether operations that change something are there at all. */
  readonly readOnly: boolean;
  /** The value of `WWW-Authenticate` for those who have to say who they are. */
  readonly challenge: string | undefined;
  /** Begins the record of a request, and says in its answer whether a page of another origin may read it. */
  begin(request: GateRequest, response: GateResponse, protocol: CallProtocol): RequestContext;
  /**
   * Refuses what no caller may do: to name a host that is not ours, to write from a page of another site, and, where nobody
   * is asked who they are, to come from another machine.
   *
   * @throws ActuatorError PERMISSION_DENIED
   */
  enter(context: RequestContext): void;
  /** Answers a page that asks if it may call, where it may; otherwise does nothing and returns false. */
  answerPreflight(context: RequestContext, response: GateResponse): boolean;
  /**
   * Asks who calls, and whether they have one of the permissions. Synchronous where no file or server has to be asked.
   *
   * @throws ActuatorError UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED (too many requests), UNAVAILABLE, which is
   *   what everybody hears once the gate is closed
   */
  admit(context: RequestContext, permissions: readonly Permission[]): Caller | Promise<Caller>;
  /** Whether whoever was let in still would be: a token can be revoked, and a certificate end, while a stream goes on. */
  holds(context: RequestContext): boolean;
  /** Whether others are asked who they are, and this caller did not say so. */
  isAnonymous(context: RequestContext): boolean;
  /** Admits nobody from now on: what stands behind the gate is being taken down. */
  close(): void;
}

const ALL: ReadonlySet<Permission> = new Set(PERMISSIONS);

/** Makes the gate of both faces. */
export function createGate(options: GateOptions): Gate {
  const { peer, access, authenticated = false, cors, readOnly = false, observer = () => undefined } = options;
  const isHost = allowedHosts(options.allowedHosts);
  const hostsAreListed = options.allowedHosts !== undefined;
  const originFor = originOf(peer);
  let closed = false;

  const authRequestOf = ({ request, origin }: RequestContext): AuthRequest => ({
    address: origin.address,
    authorization: headerOf(request, "authorization"),
    // What was shown once may have ended by the time that somebody is asked about it again.
    get certificate() {
      return peer.certificate(request);
    },
    header: (name) => headerOf(request, name),
  });

  // As if there were no certificate, it could do what all may who are let in without; and those were to be none where one is
  // required, whatever else is shown.
  const isCertificateExpired = (request: GateRequest) =>
    peer.hasExpiredCertificate(request) &&
    (peer.isCertificateRequired(request) || headerOf(request, "authorization") === undefined);

  /** A newer certificate can be shown on a new connection alone. */
  const refuseExpiredCertificate = (context: RequestContext): ActuatorError => {
    context.endConnection();
    return certificateExpired();
  };

  return {
    readOnly,
    challenge: access?.challenges.join(", "),
    begin(request, response, protocol) {
      cors?.decorate(request, response);
      return new RequestContext(request, response, protocol, originFor(request), observer);
    },
    enter(context) {
      const { request, origin } = context;
      // Whoever has shown a certificate that TLS knows has been asked, and no page can point a name of its own at TLS.
      const presentedCertificate = () => peer.isOnOwnPort(request) && peer.certificate(request) !== undefined;
      const requiresAuthentication = () => authenticated || presentedCertificate();
      if (!origin.isLocal && !requiresAuthentication())
        throw isCertificateExpired(request) ? refuseExpiredCertificate(context) : notLocal();
      const host = hostOf(request);
      // HTTP/1.0 need not name one, and no browser speaks it. Nor does any reach a Unix socket.
      const isNamed = host !== undefined && origin.address !== undefined;
      if (isNamed && !isHost(host) && (hostsAreListed || !requiresAuthentication())) {
        throw isCertificateExpired(request) ? refuseExpiredCertificate(context) : wrongHost();
      }
      if (isCrossSiteWrite(request) && !cors?.allows(request)) throw crossSite();
    },
    answerPreflight(context, response) {
      if (!isPreflight(context.request) || !cors?.allows(context.request)) return false;
      // What may be sent stands in the headers since the context began.
      response.statusCode = 204;
      response.end();
      context.end("OK");
      return true;
    },
    admit(context, permissions) {
      if (closed) throw shutDown();
      context.permission = permissions[0];
      if (isCertificateExpired(context.request)) throw refuseExpiredCertificate(context);
      if (access === undefined) return (context.caller = anybody(context, peer));
      const allow = (caller: Caller) => {
        context.caller = caller;
        const allowed = allowAny(access, caller, permissions);
        if (caller.authentication !== "none") options.onAuthenticated?.(context.request);
        return allowed;
      };
      const caller = access.identify(authRequestOf(context));
      return caller instanceof Promise ? caller.then(allow) : allow(caller);
    },
    holds({ caller, request }) {
      if (caller === undefined) return true;
      if (isCertificateExpired(request)) return false;
      if (caller.authentication === "certificate" && peer.certificate(request) === undefined) return false;
      return access === undefined || access.holds(caller);
    },
    isAnonymous: ({ caller }) => authenticated && (caller === undefined || caller.authentication === "none"),
    close() {
      closed = true;
    },
  };
}

/** Where nobody asks who calls, everybody may do everything, and is known by what the connection says of them. */
function anybody({ request, origin: { address } }: RequestContext, peer: Peer): Caller {
  const certificate = peer.certificate(request);
  const known = certificate && (certificate.commonName || certificate.fingerprint256);
  return known
    ? { name: known, authentication: "certificate", permissions: ALL }
    : { name: address ?? "local", authentication: "none", permissions: ALL };
}

function allowAny(access: Authenticator, caller: Caller, [permission, ...others]: readonly Permission[]): Caller {
  const other = others.find((each) => caller.permissions.has(each));
  const isMissing = !caller.permissions.has(permission!);
  return access.allow(caller, isMissing && other !== undefined ? other : permission!);
}

function notLocal(): ActuatorError {
  const message =
    "Without access control only this machine is answered, and no proxy. Give tokens, certificates or an authorize function (option access).";
  return new ActuatorError("PERMISSION_DENIED", "NOT_LOCAL", message);
}

function shutDown(): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "This actuator is closed.");
}

function certificateExpired(): ActuatorError {
  return refusal("The client certificate of this connection has ended or was revoked.", "CREDENTIALS_EXPIRED");
}

function wrongHost(): ActuatorError {
  const message = "The request names a host that is not this server's (option allowedHosts).";
  return new ActuatorError("PERMISSION_DENIED", "HOST_NOT_ALLOWED", message);
}

function crossSite(): ActuatorError {
  const message = "A page of another site may change nothing here (option cors names those that may).";
  return new ActuatorError("PERMISSION_DENIED", "CROSS_SITE", message);
}
