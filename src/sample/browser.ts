import { Agent, request } from "node:http";

/** What a page of the shop answered. */
export interface Page {
  readonly status: number;
}

/** One visitor's browser: it keeps its connection and its cookie. */
export class Browser {
  readonly #base: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #cookie = "";

  constructor(base: string) {
    this.#base = base;
  }

  get(path: string): Promise<Page> {
    return this.#send("GET", path);
  }

  post(path: string, form: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#send("POST", path, new URLSearchParams(form).toString());
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string): Promise<Page> {
    const headers = {
      ...(this.#cookie === "" ? {} : { cookie: this.#cookie }),
      ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, this.#base),
        { method, headers, agent: this.#agent, timeout: 5000 },
        (response) => {
          this.#cookie = response.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? this.#cookie;
          response.once("error", reject);
          response.resume().once("end", () => resolve({ status: response.statusCode ?? 0 }));
        },
      );
      sent.once("timeout", () => sent.destroy(new Error("the shop did not answer")));
      sent.once("error", reject);
      sent.end(body);
    });
  }
}
