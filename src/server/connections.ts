import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { addressBlock, canonicalAddress, isLoopback } from "../common/ip-address.ts";
import type { ServerRequest } from "./handler.ts";
import type { TrustedProxies } from "./peer.ts";

/** Somebody whose connections are counted together: an IPv4 address, or the /64 of an IPv6 address. */
export class Client {
  readonly name: string;
  readonly sockets = new Map<Connection, Socket>();
  /** The connections that may end to make room: the one that is idle for longest comes first. */
  readonly idle = new Set<Connection>();

  constructor(name: string) {
    this.name = name;
  }

  /** The one that is idle for longest. */
  get idlest(): Connection | undefined {
    return this.idle.values().next().value;
  }
}

/**
 * What a port knows of one of its connections. It is idle unless somebody who is known has a request under way: strangers may
 * not hold a place by what they begin, such as a body that never comes.
 *
 * It must not lead to its socket once that has closed, whoever still holds it: `Http2Sessions` says why.
 */
export class Connection {
  readonly client: Client;
  #isKnown: boolean;
  #requests = 0;
  #idleSince = performance.now();

  /** @param isKnown whether everybody counts as known, because nobody is asked who they are */
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

  /** Notes that somebody has said over it who they are, and was let in. */
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

/** How many connections a port takes, and whose. */
export interface ConnectionBounds {
  /** Of all; 0 is no limit. */
  readonly max: number;
  /** Of one client; 0 is no limit. */
  readonly maxPerClient: number;
  /** Addresses that speak for many clients, and have no limit of their own. */
  readonly exempt: (address: string) => boolean;
  /** Whether callers are asked who they are: see {@link Connection}. */
  readonly authenticated: boolean;
}

/**
 * The connections of a port, and which of them have not said yet what they speak. Where there are too many, a new one takes
 * the place of an idle one: whoever opens them ahead of need, or to keep others out, loses the first of theirs.
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
   * Takes a new socket into the books until it closes. Over the limit of its client, the client's connection that is idle for
   * longest ends; over that of all, the one of the client who has most idle ones. Undefined where none is idle.
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

  /** The connection of a socket that is open, or of what TLS is spoken over. */
  of(socket: Socket | TLSSocket): Connection | undefined {
    return this.#connections.get(underlying(socket));
  }

  /** Notes that it is known what a socket speaks. */
  decided(socket: Socket | TLSSocket): void {
    this.#undecided.delete(underlying(socket));
  }

  /** Sockets now, those included that have not said what they speak. */
  get size(): number {
    return this.#connections.size;
  }

  /** Ends those that have not said what they speak, in the midst of a TLS handshake or not. */
  destroyUndecided(): void {
    for (const socket of this.#undecided) socket.destroy();
  }

  /** Ends all. */
  destroy(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** The client with most idle connections; among equals, the one who has had the first of them for longest. */
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
    // At once: there is no event before the next connection.
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

/** The socket that TLS is spoken over, which Node says nowhere else; without TLS, the socket itself. */
function underlying(socket: Socket | TLSSocket): Socket {
  return (socket as TLSSocket & { readonly _parent?: Socket | null })._parent ?? socket;
}

/** Who speaks for many clients: this machine, on which proxies and tunnels run, and the proxies that are trusted. */
export function speakersForMany(trusted: TrustedProxies | undefined): (address: string) => boolean {
  return (address) => isLoopback(address) || trusted?.(address) === true;
}

const connections = new WeakMap<object, Connection>();

/** Notes that a socket of HTTP/1.1, or a session of HTTP/2, is one of a port of the actuator's own. */
export function noteOwnConnection(carrier: object, connection: Connection): void {
  connections.set(carrier, connection);
}

/**
 * Whether a request came by a port of the actuator's own. A server of the application asks for certificates for reasons of its
 * own: they may be those of all its customers.
 */
export function isOnOwnPort(req: ServerRequest): boolean {
  return connections.has(carrierOf(req));
}

/**
 * Notes that whoever makes a request has said who they are, and was let in: their connection makes room for no other while a
 * request is under way on it. Does nothing on a server of the application's own.
 */
export function markAuthenticated(req: ServerRequest): void {
  connections.get(carrierOf(req))?.markAuthenticated();
}

/** What stays the same for all requests of a connection: over HTTP/2 each stream has a stand-in for the socket of its own. */
export function carrierOf(req: ServerRequest): object {
  return (req as Http2ServerRequest).stream?.session ?? req.socket;
}
