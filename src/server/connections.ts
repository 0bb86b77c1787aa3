import type { Socket } from "node:net";
import { addressBlock } from "../ip-address/address-block.ts";
import { canonicalAddress } from "../ip-address/canonical-address.ts";
import { isLoopback } from "../ip-address/loopback.ts";
import type { TrustedProxies } from "./peer.ts";

/** The sockets of a port: how many in all and of each client, and which of them have not said yet what they speak. */
export class Connections {
  /** By socket, the client that it counts for. */
  readonly #clients = new Map<Socket, string | undefined>();
  readonly #counts = new Map<string, number>();
  readonly #undecided = new Set<Socket>();
  readonly #maxPerClient: number;
  readonly #exempt: (address: string) => boolean;

  /**
   * @param maxPerClient connections of one client at a time; 0 is no limit
   * @param exempt addresses that speak for many clients
   */
  constructor(maxPerClient: number, exempt: (address: string) => boolean) {
    this.#maxPerClient = maxPerClient;
    this.#exempt = exempt;
  }

  /** Takes a new socket into the books until it closes; false where its client has enough of them. */
  admit(socket: Socket): boolean {
    const client = this.#clientOf(socket);
    if (client !== undefined) {
      const count = this.#counts.get(client) ?? 0;
      if (count >= this.#maxPerClient) return false;
      this.#counts.set(client, count + 1);
    }
    this.#clients.set(socket, client);
    this.#undecided.add(socket);
    socket.once("close", () => this.#remove(socket));
    return true;
  }

  /** Notes that it is known what a socket speaks. */
  decided(socket: Socket): void {
    this.#undecided.delete(socket);
  }

  /** Sockets now, those included that have not said what they speak. */
  get size(): number {
    return this.#clients.size;
  }

  /** Ends those that have not said what they speak, in the midst of a TLS handshake or not. */
  destroyUndecided(): void {
    for (const socket of this.#undecided) socket.destroy();
  }

  /** Ends all. */
  destroy(): void {
    for (const socket of this.#clients.keys()) socket.destroy();
  }

  #clientOf(socket: Socket): string | undefined {
    const address = canonicalAddress(socket.remoteAddress ?? "");
    if (this.#maxPerClient === 0 || address === undefined || this.#exempt(address)) return undefined;
    return addressBlock(address);
  }

  #remove(socket: Socket): void {
    const client = this.#clients.get(socket);
    this.#clients.delete(socket);
    this.#undecided.delete(socket);
    if (client === undefined) return;
    const count = this.#counts.get(client)! - 1;
    if (count === 0) this.#counts.delete(client);
    else this.#counts.set(client, count);
  }
}

/** Who speaks for many clients: this machine, on which proxies and tunnels run, and the proxies that are trusted. */
export function speakersForMany(trusted: TrustedProxies | undefined): (address: string) => boolean {
  return (address) => isLoopback(address) || trusted?.(address) === true;
}
