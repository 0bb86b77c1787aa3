import pino, { type Logger } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import {
  type Actuator,
  type ActuatorOptions,
  createActuator,
  integrationGraph,
  type ListenOptions,
  memorySessions,
} from "../../src/index.ts";

/** An application with four loggers, two sessions of alice and a graph, as the examples expect to meet one. */
export class Shop implements AsyncDisposable {
  /** What went wrong in the actuator. A client must not be able to do that. */
  readonly errors: string[] = [];
  readonly #options: ActuatorOptions;
  readonly #listen: Omit<ListenOptions, "port">;
  /** Kept, as an application keeps them: the actuator does not. */
  loggers: readonly Logger[] = [];
  #actuator: Actuator;
  #port = 0;

  private constructor(options: ActuatorOptions, listen: Omit<ListenOptions, "port">) {
    this.#options = options;
    this.#listen = listen;
    this.#actuator = this.#create();
  }

  /** Opens on a free port of 127.0.0.1. */
  static async open(options: ActuatorOptions = {}, listen: Omit<ListenOptions, "port"> = {}): Promise<Shop> {
    const shop = new Shop(options, listen);
    await shop.#open();
    return shop;
  }

  get port(): number {
    return this.#port;
  }

  /** Such as `127.0.0.1:9001`. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get actuator(): Actuator {
    return this.#actuator;
  }

  /** Drains, and is back on the same port as another process would be: with the levels it started with. */
  async restart(): Promise<void> {
    await this.#actuator.close();
    this.#actuator = this.#create();
    await this.#open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#actuator.close({ deadlineMs: 100 });
  }

  async #open(): Promise<void> {
    const where = this.#listen.path === undefined ? { ...this.#listen, port: this.#port } : this.#listen;
    this.#port = (await this.#actuator.listen(where)).port;
  }

  #create(): Actuator {
    const root = pino({ level: "info" }, { write: () => undefined });
    const adapter = pinoLoggers(root);
    this.loggers = [root, ...["shop", "shop.orders", "shop.web"].map((name) => root.child({ name }))];

    const sessions = memorySessions();
    const now = Date.now();
    sessions.put({ username: "alice", attributeNames: ["user"], lastAccessedTime: now - 1000 });
    sessions.put({ username: "alice", attributeNames: ["user", "cart"], lastAccessedTime: now });

    const flow = integrationGraph({ app: "shop" });
    const orders = flow.messageChannel("orders");
    flow.filter("check", { input: orders, output: flow.messageChannel("accepted") });

    return createActuator({
      name: "shop",
      loggers: { adapters: [adapter], logLevelChanges: false },
      sessions: { store: sessions, idKey: "a key for the tests of clients that is long enough" },
      integrationGraph: flow,
      audit: false,
      onError: (error, context) => void this.errors.push(`${context}: ${error}`),
      ...this.#options,
    });
  }
}
