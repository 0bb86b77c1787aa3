import type { Exchanged, FleetDocument, FleetEngine, FleetEngineSource, Report, SeenReport } from "../fleet/engine.ts";
import { urlsIn } from "./url.ts";

/** Where an engine is: only one of `redis`, `postgres`, `nats` and `serve`. */
export interface EngineAddress {
  readonly redis?: string | undefined;
  readonly postgres?: string | undefined;
  /** Besides `postgres`. */
  readonly listenUrl?: string | undefined;
  readonly nats?: string | undefined;
  readonly serve?: string | undefined;
  /** Besides `serve`. */
  readonly token?: string | undefined;
  /** Besides `serve`. */
  readonly ca?: string | undefined;
}

type Kind = Exclude<keyof EngineAddress, "listenUrl" | "token" | "ca">;

/** By kind, how an engine is loaded. */
const ENGINES: Readonly<Record<Kind, (url: string, address: EngineAddress) => Promise<FleetEngineSource>>> = {
  redis: async (url) => (await import("../adapters/fleet/redis/index.ts")).redisFleet(url),
  postgres: async (url, { listenUrl }) =>
    (await import("../adapters/fleet/postgres/index.ts")).postgresFleet(url, { listenUrl }),
  nats: async (url) => (await import("../adapters/fleet/nats/index.ts")).natsFleet(urlsIn(url)),
  serve: async (url, { token, ca }) =>
    (await import("../adapters/fleet/serve/index.ts")).serveFleet({ url, token, ca }),
};

/** The kinds of engines. */
export const KINDS = Object.keys(ENGINES) as readonly Kind[];

/** The kinds of engines that have an address. */
export function kindsOf(address: EngineAddress): readonly Kind[] {
  return KINDS.filter((kind) => address[kind] !== undefined);
}

/** Returns the engine at an address. Its adapter is loaded when it is opened. */
export function fleetEngineAt(address: EngineAddress): FleetEngineSource {
  const [kind] = kindsOf(address);
  return { kind: kind!, open: (fleet) => new LoadedEngine(kind!, ENGINES[kind!](address[kind!]!, address), fleet) };
}

/** An engine whose adapter is loaded first. */
class LoadedEngine implements FleetEngine {
  readonly kind: string;
  readonly #opened: Promise<FleetEngine>;
  #engine: FleetEngine | undefined;

  constructor(kind: string, source: Promise<FleetEngineSource>, fleet: string) {
    this.kind = kind;
    this.#opened = source.then((loaded) => {
      this.#engine = loaded.open(fleet);
      return this.#engine;
    });
    // Each call says so.
    this.#opened.catch(() => undefined);
  }

  get notice(): string | undefined {
    return this.#engine?.notice;
  }

  get beatMs(): number | undefined {
    return this.#engine?.beatMs;
  }

  async exchange(version: string, report?: Report): Promise<Exchanged> {
    return (await this.#opened).exchange(version, report);
  }

  async store(next: FleetDocument, version: string, hint: string): Promise<boolean> {
    return (await this.#opened).store(next, version, hint);
  }

  async instances(): Promise<readonly SeenReport[]> {
    return (await this.#opened).instances();
  }

  onHint(listener: (hint?: string) => void): void {
    this.#opened.then((engine) => engine.onHint(listener)).catch(() => undefined);
  }

  async reset(): Promise<void> {
    await (await this.#opened).reset();
  }

  async close(id?: string): Promise<void> {
    await (await this.#opened).close(id);
  }
}
