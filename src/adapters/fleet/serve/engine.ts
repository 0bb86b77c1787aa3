import type { ConnectError } from "@connectrpc/connect";
import {
  type Exchanged,
  type FleetDocument,
  type FleetEngine,
  FleetRefusal,
  type Report,
  type SeenReport,
} from "../../../fleet/engine.ts";
import { ReplacedConnection } from "../../kit/fleet/connection.ts";
import { type ServeLink, serveLink } from "./link.ts";
import type { ServeFleetOptions } from "./options.ts";

const OPEN_WITHIN_MS = 4_000;
/** gRPC's codes of calls that were not begun: invalid argument, denied, exhausted, failed precondition, unimplemented, no credentials. */
const REFUSALS = new Set([3, 7, 8, 9, 12, 16]);

/** One fleet in another process of connect-actuator. */
export class ServeEngine implements FleetEngine {
  readonly kind = "serve";
  readonly #fleet: string;
  readonly #connection: ReplacedConnection<ServeLink>;

  constructor(fleet: string, options: ServeFleetOptions) {
    this.#fleet = fleet;
    this.#connection = new ReplacedConnection({
      unready: `There is no connection to ${new URL(options.url).host}`,
      openWithinMs: OPEN_WITHIN_MS,
      isRefusal: isRefused,
      make: (use) => serveLink(fleet, options, use),
    });
    this.#connection.connect();
  }

  exchange(version: string, report?: Report): Promise<Exchanged> {
    const own = report && { instance: report.id, report: report.text };
    return this.#call(async ({ client }) => {
      const { now, document } = await client.exchange({ fleet: this.#fleet, version, ...own });
      return { now: Number(now), document: document && { version: document.version, text: document.text } };
    });
  }

  store(document: FleetDocument, version: string, hint: string): Promise<boolean> {
    return this.#call(async ({ client }) => {
      const { isStored } = await client.store({ fleet: this.#fleet, document: { ...document }, version, hint });
      return isStored;
    });
  }

  instances(): Promise<readonly SeenReport[]> {
    return this.#call(async ({ client }) => {
      const { reports } = await client.listReports({ fleet: this.#fleet });
      return reports.map(({ instance, report, seen }) => ({ id: instance, text: report, seen: Number(seen) }));
    });
  }

  onHint(listener: (hint?: string) => void): void {
    this.#connection.onHint(listener);
  }

  async reset(): Promise<void> {
    this.#connection.connect();
  }

  async close(id?: string): Promise<void> {
    const leave = (instance: string) => (link: ServeLink) => link.client.leaveFleet({ fleet: this.#fleet, instance });
    await this.#connection.close(id === undefined ? undefined : leave(id));
  }

  #call<T>(call: (link: ServeLink) => Promise<T>): Promise<T> {
    return this.#connection.ask(call).catch((error: Error & Partial<ConnectError>) => {
      throw isRefused(error) ? new FleetRefusal(error.rawMessage, { cause: error }) : error;
    });
  }
}

function isRefused(error: Error & Partial<ConnectError>): boolean {
  return REFUSALS.has(error.code!);
}
