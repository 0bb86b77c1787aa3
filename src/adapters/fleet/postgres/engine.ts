import { createHash } from "node:crypto";
import { withTimeout } from "../../../common/timeout.ts";
import type { Exchanged, FleetDocument, FleetEngine, Report, SeenReport } from "../../../fleet/engine.ts";
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
const MAX_RETRY_MS = 2_000;
const LEAVE_WITHIN_MS = 500;
/** Longer than two clients take to give up connecting, which comes first. */
const OPEN_WITHIN_MS = 7_000;
const POLLED_MS = 2_000;
const POOLED =
  "A pooler is between this instance and PostgreSQL: changes arrive within 2 seconds. Give listenUrl to have them at once.";

/**
 * One fleet in PostgreSQL. Hints are notifications on a channel of the fleet. A pooler loses them; it is recognised by the process id of
 * the server, which is then not the one that the connection began with.
 *
 * A connection is never repaired: whatever fails, another one is made, after a pause that grows to 2 seconds.
 */
export class PostgresEngine implements FleetEngine {
  readonly kind = "postgres";
  readonly #fleet: string;
  readonly #channel: string;
  readonly #clients: FleetClients;
  #listener: (hint?: string) => void = () => {};
  #client: FleetClient | undefined;
  #connection = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #beats = 0;
  #fault = "There is no connection to PostgreSQL yet";
  #isPolled = false;
  #closed = false;

  constructor(fleet: string, clients: FleetClients) {
    this.#fleet = fleet;
    // Names of channels are shorter than those of fleets may be.
    this.#channel = `ca_${createHash("sha256").update(fleet).digest("hex").slice(0, 40)}`;
    this.#clients = clients;
    this.#connect();
  }

  get notice(): string | undefined {
    return this.#isPolled ? POOLED : undefined;
  }

  get beatMs(): number | undefined {
    return this.#isPolled ? POLLED_MS : undefined;
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
    this.#listener = listener;
  }

  async reset(): Promise<void> {
    this.#connect();
  }

  async close(id?: string): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (id !== undefined && this.#client !== undefined) {
      const gone = this.#next(this.#client, LEAVE, [this.#fleet, id]);
      await withTimeout(gone, LEAVE_WITHIN_MS, "PostgreSQL").catch(() => {});
    }
    this.#drop();
  }

  async #query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    if (this.#closed) throw new Error("The fleet was closed.");
    if (this.#client === undefined) throw new Error(this.#fault);
    try {
      const { rows } = await this.#next(this.#client, text, values);
      this.#failures = 0;
      return rows;
    } catch (error) {
      throw withAdvice(error as Error);
    }
  }

  /** Clients want one statement at a time. Those that wait for an answer which never comes fail with the connection. */
  #next(client: FleetClient, text: string, values: unknown[]): ReturnType<FleetClient["query"]> {
    const answer = this.#turn.then(() => client.query(text, values));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  #connect(): void {
    if (this.#closed) return;
    this.#drop();
    const { signal } = this.#connection;
    // Calls reject at once until there is a connection, so the fleet never resets one that falls silent while it is made.
    const silent = () => this.#lost(new Error("the server does not answer"), signal);
    this.#timer = setTimeout(silent, OPEN_WITHIN_MS).unref();
    this.#open(signal).catch((error: Error) => this.#lost(error, signal));
  }

  async #open(signal: AbortSignal): Promise<void> {
    const client = await this.#opened(this.#clients.make(), signal);
    const { rows } = await client.query("select pg_backend_pid() as pid");
    const isPooled = (rows[0] as { pid: number }).pid !== client.processID;
    if (!isPooled) await this.#listen(client, signal);
    else if (this.#clients.makeListener !== undefined) {
      await this.#listen(await this.#opened(this.#clients.makeListener(), signal), signal);
    }
    if (signal.aborted) return;
    clearTimeout(this.#timer);
    this.#isPolled = isPooled && this.#clients.makeListener === undefined;
    this.#client = client;
    this.#listener();
  }

  async #opened(making: Promise<FleetClient>, signal: AbortSignal): Promise<FleetClient> {
    const client = await making;
    signal.throwIfAborted();
    client.on("error", (error) => this.#lost(error, signal));
    client.on("end", () => this.#lost(undefined, signal));
    signal.addEventListener("abort", () => client.connection.stream.destroy(), { once: true });
    client.connection.stream.unref?.();
    await client.connect();
    // With TLS it is another one by now.
    client.connection.stream.unref?.();
    return client;
  }

  async #listen(client: FleetClient, signal: AbortSignal): Promise<void> {
    client.on("notification", ({ payload = "" }) => {
      if (!signal.aborted && !this.#closed) this.#listener(payload);
    });
    await client.query(`listen "${this.#channel}"`);
  }

  #lost(error: Error | undefined, signal: AbortSignal): void {
    if (signal.aborted || this.#closed) return;
    this.#drop();
    this.#fault = `There is no connection to PostgreSQL: ${error?.message || "it was closed"}`;
    // Spread: a server that is back would meet all instances at once.
    const pause = Math.min(100 * 2 ** this.#failures++, MAX_RETRY_MS) + Math.random() * 200;
    this.#timer = setTimeout(() => this.#connect(), pause).unref();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#client = undefined;
    this.#turn = Promise.resolve();
    this.#connection.abort();
    this.#connection = new AbortController();
  }
}
