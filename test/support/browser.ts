/** A browser at one site: it keeps the cookies that it is given. */
export class Browser {
  readonly #base: string;
  readonly #id: RegExp;
  readonly #cookies: Map<string, string>;

  /** `id` finds a session's id in the cookies, `name=value; name=value`. */
  constructor(base: string, id: RegExp, cookies: ReadonlyMap<string, string> = new Map()) {
    this.#base = base;
    this.#id = id;
    this.#cookies = new Map(cookies);
  }

  /** The session id that the cookies carry. */
  get sessionId(): string | undefined {
    return this.#id.exec(decodeURIComponent(this.#cookie))?.[1];
  }

  /** The same; empty where they carry none. */
  get id(): string {
    return this.sessionId ?? "";
  }

  /** A browser with the same cookies, at another instance of the application. */
  at({ base }: { readonly base: string }): Browser {
    return new Browser(base, this.#id, this.#cookies);
  }

  get(path: string): Promise<Response> {
    return this.#send("GET", path);
  }

  post(path: string): Promise<Response> {
    return this.#send("POST", path);
  }

  get #cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async #send(method: string, path: string): Promise<Response> {
    const headers = this.#cookies.size === 0 ? {} : { cookie: this.#cookie };
    const response = await fetch(this.#base + path, { method, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      this.#cookies.set(name!, value!);
    }
    await response.clone().arrayBuffer();
    return response;
  }
}
