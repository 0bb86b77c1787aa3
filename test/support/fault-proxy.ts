import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What a proxy does with bytes: `pass` them; `latency`: pass them 200 ms later; `half-open`: swallow those of the connections that are
 * open, and pass those of new ones; `frozen`: swallow all; `cut`: destroy all connections, and refuse new ones.
 */
export type Fault = "pass" | "latency" | "half-open" | "frozen" | "cut";

const LATENCY_MS = 200;

/** A TCP proxy that can fail as networks do. */
export class FaultProxy {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  #fault: Fault = "pass";

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Begins to listen on a free port. */
  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  set fault(fault: Fault) {
    this.#fault = fault;
    for (const pair of this.#pairs) {
      if (fault === "cut") pair.destroy();
      // What was swallowed is lost: such a connection never recovers.
      else if (fault === "half-open" || fault === "frozen") pair.isSwallowing = true;
      pair.delayMs = fault === "latency" ? LATENCY_MS : 0;
    }
  }

  close(): void {
    this.fault = "cut";
    this.#server.close();
  }

  #accept(socket: Socket): void {
    if (this.#fault === "cut") return void socket.destroy();
    const pair = new Pair(socket, connect(this.#target.port, this.#target.host));
    pair.isSwallowing = this.#fault === "frozen";
    pair.delayMs = this.#fault === "latency" ? LATENCY_MS : 0;
    this.#pairs.add(pair);
    socket.on("close", () => this.#pairs.delete(pair));
  }
}

/** A connection, and the one that it is passed on to. */
class Pair {
  isSwallowing = false;
  delayMs = 0;
  readonly #sockets: readonly [Socket, Socket];

  constructor(near: Socket, far: Socket) {
    this.#sockets = [near, far];
    this.#pass(near, far);
    this.#pass(far, near);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on("error", () => {});
    // The end does not get through either.
    from.on("close", () => {
      if (!this.isSwallowing) to.destroy();
    });
    from.on("data", (data) => {
      if (this.isSwallowing || to.destroyed) return;
      if (this.delayMs === 0) to.write(data);
      else setTimeout(() => void (!this.isSwallowing && !to.destroyed && to.write(data)), this.delayMs);
    });
  }
}
