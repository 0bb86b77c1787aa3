import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A connection that can be cut, as when a process is killed or a firewall forgets it: in the way of clients to a server. */
export class Cable implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined).once("close", () => this.#sockets.delete(socket));
      }
      client.pipe(server).pipe(client);
    });
  }

  /** To a port of 127.0.0.1. */
  static async to(port: number): Promise<Cable> {
    const cable = new Cable(port);
    cable.#server.listen(0, "127.0.0.1");
    await once(cable.#server, "listening");
    return cable;
  }

  /** Such as `127.0.0.1:9001`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets every connection. New ones are let through. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }
}
