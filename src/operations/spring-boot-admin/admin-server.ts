import { readFile } from "node:fs/promises";
import type { SpringBootAdminOptions } from "./options.ts";
import { type AdminAnswer, type AdminRequest, send } from "./request.ts";

/** The options of requests to a server. */
export type AdminServerOptions = Pick<SpringBootAdminOptions, "username" | "password" | "timeoutMs" | "tls">;

/** Reports to the operator about a server, one sentence at a time. */
export type Say = (sentence: string, cause?: unknown) => void;

/** The maximum of different problems reported in one outage. */
const MAX_TROUBLES = 8;

/** One Spring Boot Admin server. A problem with the registration is reported once, and so is its end. */
export class AdminServer {
  readonly #url: string;
  readonly #options: AdminServerOptions;
  readonly #authorization: string | undefined;
  readonly #say: Say;
  /** The current problems that were reported. */
  readonly #troubles = new Set<string>();
  /** The server's id of this instance. */
  #id: string | undefined;

  constructor(url: string, options: AdminServerOptions, say: Say) {
    const { username, password } = options;
    this.#url = url.replace(/\/+$/, "");
    this.#options = options;
    this.#say = say;
    if (username !== undefined) {
      this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    }
  }

  /** Whether the latest request has failed. */
  get isAway(): boolean {
    return this.#troubles.size > 0;
  }

  /** Registers, or renews the registration. Resolves to whether that succeeded; never rejects. */
  async register(body: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { timeoutMs = 5_000 } = this.#options;
      const answer = await this.#send({
        method: "POST",
        path: "/instances",
        body,
        timeoutMs,
        signal,
        background: true,
      });
      this.#id = this.#idOf(answer);
    } catch (error) {
      if (!signal.aborted) this.#trouble(error);
      return false;
    }
    if (this.isAway) this.#say(`${this.#url} answers again; this instance is registered there`);
    this.#troubles.clear();
    return true;
  }

  /** Ends the registration, where there is one. Never rejects. */
  async deregister(timeoutMs: number): Promise<void> {
    if (this.#id === undefined) return;
    const path = `/instances/${encodeURIComponent(this.#id)}`;
    const { signal } = new AbortController();
    try {
      const { status } = await this.#send({ method: "DELETE", path, timeoutMs, signal, background: false });
      // A server that does not know the instance any more is fine.
      if (status !== 404 && (status < 200 || status > 299)) throw new Trouble(refusalOf(status, true));
      this.#id = undefined;
    } catch (error) {
      if (!this.isAway) this.#say(`${this.#url} still lists this instance: it ${reasonOf(error)}`, error);
    }
  }

  async #send({ path, ...request }: Omit<AdminRequest, "url" | "authorization" | "ca"> & { path: string }) {
    const { ca } = this.#options.tls ?? {};
    const pem = typeof ca === "string" && !ca.startsWith("-----BEGIN") ? await readFile(ca) : ca;
    return send({
      ...request,
      url: new URL(this.#url + path),
      authorization: this.#authorization,
      ca: pem instanceof Uint8Array ? Buffer.from(pem) : pem,
    });
  }

  #idOf({ status, body }: AdminAnswer): string {
    if (status < 200 || status > 299) throw new Trouble(refusalOf(status, this.#authorization !== undefined));
    const id = idIn(body);
    if (id === undefined) throw new Trouble(`answers ${status} without an id; is it a Spring Boot Admin server?`);
    return id;
  }

  #trouble(error: unknown): void {
    const reason = reasonOf(error);
    if (this.#troubles.has(reason) || this.#troubles.size >= MAX_TROUBLES) return;
    this.#troubles.add(reason);
    this.#say(`${this.#url} ${reason}. It is tried again until it succeeds; only that is reported`, error);
  }
}

/** An unexpected answer; the message continues a sentence about the server. */
class Trouble extends Error {}

function idIn(body: string): string | undefined {
  try {
    const { id } = JSON.parse(body) as { id?: unknown };
    return typeof id === "string" && /^[\w.:-]{1,128}$/.test(id) && !/^\.+$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Without addresses and ports of several attempts, so that the reason is the same every time. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof Trouble ? message : `cannot be reached (${code ?? message})`;
}

/** Why a server does not register, as the rest of a sentence that begins with its address. */
export function refusalOf(status: number, withCredentials: boolean): string {
  if (status >= 300 && status < 400)
    return `answers ${status}, a redirect, perhaps to log in; none is followed. ${ADDRESS}`;
  const hint = HINTS[status]?.(withCredentials);
  return hint === undefined ? `answers ${status}` : `answers ${status}: ${hint}`;
}

const ADDRESS = "Its own address, with its context path, belongs into `admin.url`";

const HINTS: Readonly<Record<number, (withCredentials: boolean) => string>> = {
  400: () => "it rejects the registration; if its ssrf-protection is on, it accepts only addresses that it allows",
  401: (withCredentials) =>
    withCredentials
      ? "it refuses `admin.username` and `admin.password`"
      : "it requires authentication; set `admin.username` and `admin.password`",
  403: () => "it forbids the registration; its CSRF protection must exclude /instances",
  404: () => `it has no /instances. ${ADDRESS}`,
  405: () => `its /instances accepts no registrations. ${ADDRESS}`,
};
