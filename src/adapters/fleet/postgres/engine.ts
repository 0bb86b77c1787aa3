import { createHash } from "node:crypto";
import {
  type Exchanged,
  type FleetDocument,
  type FleetEngine,
  FleetRefusal,
  type Report,
  type SeenReport,
} from "../../../fleet/engine.ts";
import { endWith, keepAsking, type LinkUse, ReplacedConnection } from "../../kit/fleet/connection.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import { FIRST, LEAVE, NEXT, PRUNE, READ, REPORT, REPORTS } from "./statements.ts";
import { withAdvice } from "./tables.ts";

/** What the engine uses of a client of `pg`. */
export interface FleetClient {
  readonly processID?: number | null | undefined;
  readonly connection: { readonly stream: { destroy(): void; unref?(): void } };
  connect(): Promise<unknown>;
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  on(event: "error" | "end", listener: (error?: Error) => void): unknown;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  end(): Promise<void>;
}

/** Sends a statement. */
type Query = FleetClient["query"];

/** Makes clients that are not connected yet. */
export interface FleetClients {
  /** For statements. */
  make(): Promise<FleetClient>;
  /** For LISTEN, past a pooler; undefined if there is no other address. */
  readonly makeListener?: (() => Promise<FleetClient>) | undefined;
}

/** About an hour of beats. */
const BEATS_BETWEEN_PRUNING = 720;
/** PostgreSQL refuses 8,000 bytes. */
const MAX_HINT_BYTES = 7_900;
/** Longer than a client takes to give up connecting, which comes first. */
const OPEN_WITHIN_MS = 5_000;
const POLLED_MS = 2_000;
const READ_ONLY = "25006";
/** Classes of SQLSTATE in which a statement may have been executed: connection exceptions and interventions of an operator. */
const OPEN_OUTCOME = new Set(["08", "40", "57"]);
const POLLED = "A pooler is between this instance and PostgreSQL: changes arrive within 2 seconds.";

/**
 * One fleet in PostgreSQL. Hints are notifications on a channel of the fleet. A pooler loses them; it is recognised by the process id of
 * the server, which is then not the one that the connection began with.
 */
export class PostgresEngine implements FleetEngine {
  readonly kind = "postgres";
  readonly #fleet: string;
  readonly #channel: string;
  readonly #connection: ReplacedConnection<Query>;
  /** For hints alone, while a pooler is in the way of them. */
  readonly #hints: ReplacedConnection<FleetClient> | undefined;
  #beats = 0;
  #isPooled = false;

  constructor(fleet: string, { make, makeListener }: FleetClients) {
    this.#fleet = fleet;
    // Names of channels are shorter than those of fleets may be.
    this.#channel = `ca_${createHash("sha256").update(fleet).digest("hex").slice(0, 40)}`;
    this.#connection = new ReplacedConnection({
      unready: "There is no connection to PostgreSQL",
      // Calls reject at once until there is a connection, so the fleet never resets one that falls silent while it is made.
      openWithinMs: OPEN_WITHIN_MS,
      isRefusal: isRefused,
      make: async (use) => this.#ready(await opened(make(), use), use),
    });
    this.#hints =
      makeListener &&
      new ReplacedConnection({
        unready: "There is no connection to listenUrl",
        openWithinMs: OPEN_WITHIN_MS,
        isRefusal: isRefused,
        make: async (use) => {
          const client = await this.#listen(await opened(makeListener(), use), use);
          // No statement of the fleet would show that it is dead.
          keepAsking(() => client.query("select 1"), use);
          return client;
        },
      });
    this.#connection.connect();
  }

  get notice(): string | undefined {
    if (!this.#isPolled) return undefined;
    return `${POLLED} ${this.#hints?.unready ?? "Give listenUrl to have them at once"}.`;
  }

  get beatMs(): number | undefined {
    return this.#isPolled ? POLLED_MS : undefined;
  }

  get #isPolled(): boolean {
    return this.#isPooled && this.#hints?.link === undefined;
  }

  async exchange(version: string, report?: Report): Promise<Exchanged> {
    const values = [this.#fleet, version];
    const [row] =
      report === undefined
        ? await this.#query(READ, values)
        : await this.#query(REPORT, [...values, report.id, report.text]);
    if (report !== undefined && this.#beats++ % BEATS_BETWEEN_PRUNING === 0) this.#query(PRUNE, []).catch(() => {});
    const { now, version: found, document } = row as { now: string; version: string; document: string | null };
    const text = document ?? "";
    return { now: Number(now), document: found === version ? undefined : { version: found, text } };
  }

  async store(next: FleetDocument, version: string, hint: string): Promise<boolean> {
    const sent = Buffer.byteLength(hint) > MAX_HINT_BYTES ? "" : hint;
    const values = [this.#fleet, next.version, next.text, this.#channel, sent];
    const rows = version === "" ? await this.#query(FIRST, values) : await this.#query(NEXT, [...values, version]);
    return rows.length > 0;
  }

  async instances(): Promise<readonly SeenReport[]> {
    const rows = (await this.#query(REPORTS, [this.#fleet])) as { id: string; seen: string; report: string }[];
    return rows.map(({ id, seen, report }) => ({ id, text: report, seen: Number(seen) }));
  }

  onHint(listener: (hint?: string) => void): void {
    this.#connection.onHint(listener);
    this.#hints?.onHint(listener);
  }

  async reset(): Promise<void> {
    this.#connection.connect();
  }

  close(id?: string): Promise<void> {
    void this.#hints?.close();
    return this.#connection.close(id === undefined ? undefined : (query) => query(LEAVE, [this.#fleet, id]));
  }

  async #query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    try {
      return (await this.#connection.ask((query) => query(text, values), isElsewhere)).rows;
    } catch (error) {
      const isRefusal = error instanceof FleetRefusal || isRefused(error as Error);
      throw new (isRefusal ? FleetRefusal : Error)(withAdvice(error as Error).message, { cause: error });
    }
  }

  async #ready(client: FleetClient, use: LinkUse): Promise<Query> {
    const { rows } = await client.query("select pg_backend_pid() as pid");
    const isPooled = (rows[0] as { pid: number }).pid !== client.processID;
    if (!isPooled) await this.#listen(client, use);
    use.signal.throwIfAborted();
    this.#isPooled = isPooled;
    if (isPooled) this.#hints?.connect();
    return inTurn(client);
  }

  async #listen(client: FleetClient, { onHint }: LinkUse): Promise<FleetClient> {
    client.on("notification", ({ payload = "" }) => onHint(payload));
    await client.query(`listen "${this.#channel}"`);
    return client;
  }
}

function isRefused(error: Error): boolean {
  const state = sqlState(error);
  return state !== undefined && !OPEN_OUTCOME.has(state.slice(0, 2));
}

/** Whether the server is a standby now, and its address may lead to another one. */
function isElsewhere(error: Error): boolean {
  return sqlState(error) === READ_ONLY;
}

async function opened(making: Promise<FleetClient>, { signal, onLost }: LinkUse): Promise<FleetClient> {
  const client = await making;
  signal.throwIfAborted();
  const lost = (error?: Error) => onLost(error?.message ? error : new Error("it was closed", { cause: error }));
  client.on("error", lost);
  client.on("end", () => lost());
  endWith(signal, () => client.connection.stream.destroy());
  client.connection.stream.unref?.();
  await client.connect();
  // With TLS it is another one by now.
  client.connection.stream.unref?.();
  return client;
}

/** Clients want one statement at a time. Those that wait for an answer which never comes fail with the connection. */
function inTurn(client: FleetClient): Query {
  let turn: Promise<unknown> = Promise.resolve();
  return (text, values) => {
    const answer = turn.then(() => client.query(text, values));
    turn = answer.catch(() => {});
    return answer;
  };
}
