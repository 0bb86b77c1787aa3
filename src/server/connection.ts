import type { Socket } from "node:net";

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
