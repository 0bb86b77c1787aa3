import { setTimeout as delay } from "node:timers/promises";
import { isLoopback, isReadableOnTheWay } from "../../common/ip-address.ts";
import type { Application } from "../health/application.ts";
import { AdminServer, type Say } from "./admin-server.ts";
import { announcementOf, type ServedAt } from "./announcement.ts";
import { checkSpringBootAdminOptions, type SpringBootAdminOptions } from "./options.ts";

/** The registration of an instance with Spring Boot Admin servers. */
export interface Registration {
  /**
   * Ends it, by DELETE unless `deregister` is off. Takes `deregisterTimeoutMs` at most, whatever the servers do, and never
   * rejects. May be called again.
   */
  close(): Promise<void>;
}

/** What stands before all that is said. */
const CONTEXT = "Spring Boot Admin";

/**
 * Tells Spring Boot Admin servers where the actuator is, again and again, as Spring Boot's own client does. Nothing waits for
 * a server: one that is away is tried at every interval, is said once, and keeps neither the process nor other servers
 * waiting.
 *
 * @param served where the actuator listens; undefined where the application serves its handler, and says `managementUrl`
 * @param onError called with servers that are away or refuse, and with their return; never with a credential
 * @throws ActuatorError INVALID_ARGUMENT for options that do not fit, FAILED_PRECONDITION for an address that no server could
 *   find; see `requireReachable`, which says so before a port is opened.
 * @see https://docs.spring-boot-admin.com
 */
export function registerWithSpringBootAdmin(
  options: SpringBootAdminOptions,
  application: Application,
  served: ServedAt | undefined,
  onError: (error: Error, context: string) => void,
): Registration {
  checkSpringBootAdminOptions("admin", options, application.name);
  const announcement = announcementOf(options, application, served);
  const body = JSON.stringify(announcement);
  const say: Say = (sentence, cause) => onError(new Error(sentence, cause === undefined ? {} : { cause }), CONTEXT);

  const urls = typeof options.url === "string" ? [options.url] : options.url;
  warn(options, urls, announcement.managementUrl, say);
  const servers = urls.map((url) => new AdminServer(url, options, say));
  const groups = options.registerOnce ? [servers] : servers.map((server) => [server]);
  const { intervalMs = 10_000, deregister = true, deregisterTimeoutMs = 2_000 } = options;
  const renewals = groups.map((group) => new Renewal(group, body, intervalMs));
  let closed: Promise<unknown> | undefined;

  return {
    async close() {
      closed ??= Promise.all(renewals.map((renewal) => renewal.end(deregister ? deregisterTimeoutMs : 0)));
      await closed;
    },
  };
}

/** A warning and not an error, because a name, a proxy or a tunnel may make it work. */
function warn(
  { credentials, password }: SpringBootAdminOptions,
  urls: readonly string[],
  managementUrl: string,
  say: Say,
): void {
  const elsewhere = urls.filter((url) => !isLocal(url));
  if (elsewhere[0] !== undefined && isLocal(managementUrl)) {
    say(`${elsewhere[0]} gets ${managementUrl}, which only this machine can reach; \`admin.managementUrl\` changes it`);
  }
  const readable = urls.find(isReadableOnTheWay);
  if (readable === undefined || (credentials ?? password) === undefined) return;
  say(`${readable} is sent credentials unencrypted; give an https: address, unless a mesh or a tunnel encrypts`);
}

function isLocal(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}

/**
 * Registers again and again with the first of some servers that answers. Rounds begin at every interval, never two at a
 * time, and keep no process alive.
 */
export class Renewal {
  readonly #servers: readonly AdminServer[];
  readonly #body: string;
  readonly #intervalMs: number;
  readonly #stopping = new AbortController();
  #ended = false;
  #round: Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(servers: readonly AdminServer[], body: string, intervalMs: number) {
    this.#servers = servers;
    this.#body = body;
    this.#intervalMs = intervalMs;
    this.#round = this.#run();
  }

  /** Ends the registrations within `limitMs`; with 0 it keeps them. */
  async end(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    this.#ended = true;
    clearTimeout(this.#timer);
    // A registration that arrived after its end would stay. A server that was away is not waited for.
    const cancel = new AbortController();
    const patience = this.#servers.some(({ isAway }) => isAway) ? 0 : limitMs;
    const late = delay(patience, undefined, { signal: cancel.signal }).catch(() => undefined);
    await Promise.race([this.#round, late]);
    cancel.abort();
    this.#stopping.abort();
    await Promise.all(
      this.#servers.map((server) => {
        const left = Math.ceil(until - performance.now());
        return left > 0 ? server.deregister(left) : undefined;
      }),
    );
  }

  async #run(): Promise<void> {
    const begun = performance.now();
    for (const server of this.#servers) {
      if (this.#ended || (await server.register(this.#body, this.#stopping.signal))) break;
    }
    if (this.#ended) return;
    const pause = Math.max(0, this.#intervalMs - (performance.now() - begun));
    this.#timer = setTimeout(() => {
      this.#round = this.#run();
    }, pause).unref();
  }
}
