import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { addressBlock, canonicalAddress, isLoopback } from "../common/ip-address.ts";
import type { ServerRequest } from "./handler.ts";
import type { TrustedProxies } from "./peer.ts";

/** A client, whose connections are counted together: an IPv4 address, or the /64 of an IPv6 address. */
export class Client {
  readonly name: string;
  readonly sockets = new Map<Connection, Socket>();
  /** The connections that may end to make room: the one that is idle for longest comes first. */
  readonly idle = new Set<Connection>();

  constructor(name: string) {
    this.name = name;
  }

  /** The connection that has been idle for longest. */
  get idlest(): Connection | undefined {
    return this.idle.values().next().value;
  }
}

/**
 * One connection of a port. It is idle unless an authenticated client has a request under way: anonymous clients must not keep a
 * place by an unfinished request, such as a body that never arrives.
 *
 * It must not reference its socket once that has closed; `Http2Sessions` says why.
 */
export class Connection {
  readonly client: Client;
  #isKnown: boolean;
  #requests = 0;
  #idleSince = performance.now();

  /** @param isKnown whether the client counts as authenticated, because the port requires no authentication */
  constructor(client: Client, socket: Socket, isKnown: boolean) {
    this.client = client;
    this.#isKnown = isKnown;
    client.sockets.set(this, socket);
    client.idle.add(this);
  }

  /** When it was opened, or when its last request was over: a time of `performance.now()`. */
  get idleSince(): number {
    return this.#idleSince;
  }

  /** Notes that a request has begun. */
  began(): void {
    this.#requests++;
    if (this.#isKnown) this.client.idle.delete(this);
  }

  /** Notes that the answer to a request is over. */
  ended(): void {
    this.#requests--;
    if (this.#isKnown && this.#requests > 0) return;
    this.#idleSince = performance.now();
    const { idle, sockets } = this.client;
    idle.delete(this);
    if (sockets.has(this)) idle.add(this);
  }

  /** Notes that its client has authenticated. */
  markAuthenticated(): void {
    this.#isKnown = true;
    if (this.#requests > 0) this.client.idle.delete(this);
  }

  /** Notes that its socket has closed. */
  closed(): void {
    this.client.sockets.delete(this);
    this.client.idle.delete(this);
  }
}

/** The limits on the connections of a port. */
export interface ConnectionBounds {
  /** Of all; 0 is no limit. */
  readonly max: number;
  /** Of one client; 0 is no limit. */
  readonly maxPerClient: number;
  /** Addresses that speak for many clients, and have no limit of their own. */
  readonly exempt: (address: string) => boolean;
  /** Whether callers must authenticate; see {@link Connection}. */
  readonly authenticated: boolean;
}

/**
 * The connections of a port, and which of them have not shown their protocol yet. If there are too many, a new one replaces an
 * idle one, so clients that open connections ahead of need, or to exclude others, lose theirs first.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #connections = new Map<Socket, Connection>();
  readonly #clients = new Map<string, Client>();
  readonly #undecided = new Set<Socket>();

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  /**
   * Admits a new socket until it closes. Over the limit of its client, the client's connection that has been idle for longest ends;
   * over the limit of all, one of the client with the most idle connections. Returns undefined if none is idle.
   */
  admit(socket: Socket): Connection | undefined {
    const { max, maxPerClient, exempt, authenticated } = this.#bounds;
    const address = canonicalAddress(socket.remoteAddress ?? "");
    const name = addressBlock(address);
    const isBounded = maxPerClient > 0 && address !== undefined && !exempt(address);
    const own = this.#clients.get(name);
    const hasEnough = isBounded && own !== undefined && own.sockets.size >= maxPerClient;
    const isFull = max > 0 && this.#connections.size >= max;
    if ((hasEnough || isFull) && !this.#end((hasEnough ? own : this.#mostIdle())?.idlest)) return undefined;
    const client = this.#clients.get(name) ?? new Client(name);
    this.#clients.set(name, client);
    const connection = new Connection(client, socket, !authenticated);
    this.#connections.set(socket, connection);
    this.#undecided.add(socket);
    socket.once("close", () => this.#remove(socket));
    return connection;
  }

  /** The connection of an open socket, or of the socket under a TLS socket. */
  of(socket: Socket | TLSSocket): Connection | undefined {
    return this.#connections.get(underlying(socket));
  }

  /** Notes that the protocol of a socket is known. */
  decided(socket: Socket | TLSSocket): void {
    this.#undecided.delete(underlying(socket));
  }

  /** The number of sockets, including those whose protocol is not known yet. */
  get size(): number {
    return this.#connections.size;
  }

  /** Ends the connections whose protocol is not known yet, during a TLS handshake or not. */
  destroyUndecided(): void {
    for (const socket of this.#undecided) socket.destroy();
  }

  /** Ends all. */
  destroy(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** The client with the most idle connections; among equals, the one whose first idle connection is oldest. */
  #mostIdle(): Client | undefined {
    let most: Client | undefined;
    for (const client of this.#clients.values()) {
      const more = client.idle.size - (most?.idle.size ?? 0);
      if (more > 0 || (more === 0 && most !== undefined && client.idlest!.idleSince < most.idlest!.idleSince))
        most = client;
    }
    return most;
  }

  #end(connection: Connection | undefined): boolean {
    const socket = connection?.client.sockets.get(connection);
    if (socket === undefined) return false;
    // Immediately, because there is no event before the next connection.
    this.#remove(socket);
    socket.destroy();
    return true;
  }

  #remove(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#connections.delete(socket);
    this.#undecided.delete(socket);
    connection.closed();
    const { client } = connection;
    if (client.sockets.size === 0) this.#clients.delete(client.name);
  }
}

/** The socket under a TLS socket, which Node.js exposes only here; without TLS, the socket itself. */
function underlying(socket: Socket | TLSSocket): Socket {
  return (socket as TLSSocket & { readonly _parent?: Socket | null })._parent ?? socket;
}

/** Whether an address speaks for many clients: this machine, where proxies and tunnels run, and trusted proxies do. */
export function speakersForMany(trusted: TrustedProxies | undefined): (address: string) => boolean {
  return (address) => isLoopback(address) || trusted?.(address) === true;
}

const connections = new WeakMap<object, Connection>();

/** Notes that an HTTP/1.1 socket or an HTTP/2 session belongs to the actuator's own port. */
export function noteOwnConnection(carrier: object, connection: Connection): void {
  connections.set(carrier, connection);
}

/**
 * Whether a request came by the actuator's own port. A server of the application may request certificates for other reasons, for
 * example from all its customers.
 */
export function isOnOwnPort(req: ServerRequest): boolean {
  return connections.has(carrierOf(req));
}

/**
 * Notes that the caller of a request has authenticated, so that its connection is not replaced while it has a request under way.
 * Does nothing on a server of the application.
 */
export function markAuthenticated(req: ServerRequest): void {
  connections.get(carrierOf(req))?.markAuthenticated();
}

/** The object that all requests of a connection share: over HTTP/2 each stream has its own stand-in for the socket. */
export function carrierOf(req: ServerRequest): object {
  return (req as Http2ServerRequest).stream?.session ?? req.socket;
}
