import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { ActuatorError } from "../common/error.ts";
import { LINE_PREFIX, LINES, MAX_LINE_BYTES } from "../processes/description.ts";
import { openRuntimeFolder } from "../processes/runtime-folder.ts";
import { type Place, socketName } from "../processes/socket-name.ts";
import { listenOnPath } from "../server/unix-socket.ts";

/** How long a client of a line may take to send it, and to read the answer. */
const LINE_TIMEOUT_MS = 5_000;

/** What answers at the socket of a process. */
export interface LocalService {
  /** Answers a line, by an object that is sent as JSON. */
  answer(line: string): Promise<object>;
  /** Serves a connection that does not begin with a line. */
  serve(socket: Socket, server: Server): void;
}

/**
 * The Unix socket of this process in the folder of this user, at which it answers {@link LINES} by itself and hands every other
 * connection on. It does not keep the process alive.
 */
export class LocalSocket {
  readonly #service: LocalService;
  readonly #ending = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #remove: (() => void) | undefined;

  constructor(service: LocalService) {
    this.#service = service;
    this.#server = createServer((socket) => this.#accept(socket)).unref();
    this.#server.on("error", () => undefined);
  }

  /**
   * Begins to listen. Resolves to the path of the socket.
   *
   * @throws ActuatorError if there is no folder for it, or the socket of another process is there.
   */
  async open(place: Place): Promise<string> {
    const path = join(openRuntimeFolder(), socketName(place));
    try {
      this.#remove = await listenOnPath(this.#server, path, 0o600, this.#ending.signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      // Containers number their processes alike.
      const message = `another process answers at ${path}; set CONNECT_ACTUATOR_RUNTIME_DIR to a folder of this container alone`;
      throw new ActuatorError("FAILED_PRECONDITION", "SOCKET_TAKEN", message, {}, { cause: error });
    }
    process.once("exit", this.#onExit);
    return path;
  }

  /** Removes the socket, and ends its connections. */
  close(): void {
    this.#ending.abort();
    process.removeListener("exit", this.#onExit);
    this.#onExit();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroySoon();
  }

  readonly #onExit = (): void => {
    try {
      this.#remove?.();
    } catch {
      // Swept by the next process that looks.
    }
    this.#remove = undefined;
  };

  #accept(socket: Socket): void {
    socket.unref();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const onError = () => socket.destroy();
    socket.on("error", onError);
    // No method of HTTP, and no preface, begins with a small letter.
    socket.once("readable", () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return void socket.destroy();
      if (first[0] === LINE_PREFIX.charCodeAt(0)) return this.#readLine(socket, first);
      socket.removeListener("error", onError);
      socket.unshift(first);
      this.#service.serve(socket, this.#server);
    });
  }

  #readLine(socket: Socket, first: Buffer): void {
    let text = first.toString();
    const timer = setTimeout(() => socket.destroy(), LINE_TIMEOUT_MS).unref();
    socket.once("close", () => clearTimeout(timer));
    const look = () => {
      const end = text.indexOf("\n");
      if (end < 0) return text.length > MAX_LINE_BYTES ? void socket.destroy() : undefined;
      socket.removeListener("data", onData);
      socket.resume();
      const line = text.slice(0, end);
      const isKnown = (Object.values(LINES) as string[]).includes(line);
      const answer = isKnown ? this.#service.answer(line) : Promise.resolve({ error: `unknown line: ${line}` });
      void answer
        .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
        .then((object) => socket.end(`${JSON.stringify(object)}\n`));
    };
    const onData = (chunk: Buffer) => {
      text += chunk.toString();
      look();
    };
    socket.on("data", onData);
    look();
  }
}
