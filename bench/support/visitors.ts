import { Agent, request } from "node:http";

/** How fast a server answered. */
export interface Answered {
  readonly requests: number;
  readonly seconds: number;
}

/** Visitors of one server, each on a connection of its own and one request at a time, who keep their cookies if told to. */
export class Visitors {
  readonly #agent: Agent;
  readonly #port: number;
  readonly #cookies: (string | undefined)[];

  constructor(port: number, count: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
    this.#port = port;
    this.#cookies = new Array(count).fill(undefined);
  }

  /** Each visitor sends one request, and keeps the cookie that comes back. */
  async logIn(): Promise<void> {
    for (const index of this.#cookies.keys()) this.#cookies[index] = await this.#send("POST", "/login", undefined);
  }

  /** All send the same request for some seconds; strangers without a cookie. */
  async run(method: string, path: string, seconds: number, strangers: boolean): Promise<Answered> {
    const began = performance.now();
    const end = began + seconds * 1000;
    let requests = 0;
    await Promise.all(
      this.#cookies.map(async (cookie) => {
        for (; performance.now() < end; requests++) await this.#send(method, path, strangers ? undefined : cookie);
      }),
    );
    return { requests, seconds: (performance.now() - began) / 1000 };
  }

  end(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, cookie: string | undefined): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const headers = cookie === undefined ? {} : { cookie };
      const sent = request({ agent: this.#agent, port: this.#port, host: "127.0.0.1", method, path, headers });
      sent.on("error", reject).on("response", (response) => {
        if (response.statusCode !== 200) reject(new Error(`an answer with status ${response.statusCode}`));
        response.resume().on("end", () => resolve(response.headers["set-cookie"]?.[0]?.split(";", 1)[0]));
      });
      sent.end();
    });
  }
}
