import { setTimeout as delay } from "node:timers/promises";
import type { WatchLoggersResponse } from "../gen/actuator/v3/loggers_pb.ts";
import { errorText, InstanceClient, type RemoteLogger, remoteLogger } from "./instance-client.ts";
import type { FleetInstance, FleetOptions } from "./options.ts";

/** The events of an {@link Instance}. */
export interface InstanceEvents {
  /** All loggers of the instance are known, for the first time or again. */
  found(instance: Instance): void;
  /** These loggers are new, have changed or are gone. */
  changed(instance: Instance, names: readonly string[]): void;
  /** The instance does not answer any more, or did not answer the first attempt. */
  lost(instance: Instance, reason: string): void;
}

const FIRST_RECONNECT_MS = 200;

/** Watches the loggers of one actuator, and connects again whenever the watch ends. */
export class Instance {
  /** The name in warnings. */
  readonly label: string;
  readonly client: InstanceClient;
  /** The loggers; empty while the instance is unreachable. */
  readonly loggers = new Map<string, RemoteLogger>();
  /** The revision up to which the watch has told every change. */
  revision = 0n;
  isReachable = false;
  /** Whether the revision continued after the last connection, as it does in the same process. */
  isResumed = false;
  readonly #events: InstanceEvents;
  readonly #maxReconnectMs: number;
  readonly #silenceMs: number;
  readonly #closing = new AbortController();
  /** For loggers known from an answer, its revision: older news of the watch do not count. */
  readonly #updated = new Map<string, bigint>();
  #running: Promise<void> = Promise.resolve();

  constructor(instance: FleetInstance, options: FleetOptions, events: InstanceEvents) {
    this.label = instance.name ?? instance.url;
    this.client = new InstanceClient(instance, options);
    this.#events = events;
    this.#maxReconnectMs = options.maxReconnectMs ?? 10_000;
    this.#silenceMs = options.silenceMs ?? 45_000;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Updates a logger from an answer, which may be ahead of the watch. */
  update(name: string, logger: RemoteLogger, revision: bigint): void {
    if (!this.isReachable || revision < this.revision) return;
    this.#updated.set(name, revision);
    this.loggers.set(name, logger);
    this.#events.changed(this, [name]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let attempts = 0;
    let wasLost = false;
    while (!signal.aborted) {
      const reason = await this.#watch();
      if (signal.aborted) break;
      if (this.isReachable) attempts = 0;
      if (this.isReachable || !wasLost) this.#lose(reason);
      wasLost = true;
      // Random, so that many clients do not reconnect at the same moment.
      const wait = Math.min(this.#maxReconnectMs, FIRST_RECONNECT_MS * 2 ** attempts++);
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
    this.isReachable = false;
  }

  #lose(reason: string): void {
    this.isReachable = false;
    this.loggers.clear();
    this.#updated.clear();
    this.#events.lost(this, reason);
  }

  /** Watches until the stream ends, and returns why. */
  async #watch(): Promise<string> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), this.#silenceMs);
    let snapshot: Map<string, RemoteLogger> | undefined;
    try {
      for await (const response of this.client.watch(AbortSignal.any([this.#closing.signal, silence.signal]))) {
        timer.refresh();
        if (response.event.case === "snapshot") snapshot = new Map();
        if (snapshot === undefined) this.#change(response);
        else {
          for (const [name, logger] of loggersIn(response)) snapshot.set(name, logger);
          if (response.more) continue;
          this.#find(snapshot, response.revision);
          snapshot = undefined;
        }
      }
      return "it ended the watch";
    } catch (error) {
      return silence.signal.aborted ? `it was silent for ${this.#silenceMs} ms` : errorText(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #find(snapshot: ReadonlyMap<string, RemoteLogger>, revision: bigint): void {
    this.loggers.clear();
    for (const [name, logger] of snapshot) this.loggers.set(name, logger);
    this.isResumed = this.revision > 0n && revision >= this.revision;
    this.revision = revision;
    this.isReachable = true;
    this.#events.found(this);
  }

  #change(response: WatchLoggersResponse): void {
    const { event, revision } = response;
    if (event.case !== "change") return;
    const names: string[] = [];
    for (const [name, logger] of loggersIn(response)) {
      const updated = this.#updated.get(name);
      if (updated !== undefined && revision < updated) continue;
      this.#updated.delete(name);
      this.loggers.set(name, logger);
      names.push(name);
    }
    for (const name of event.value.removed) if (this.loggers.delete(name)) names.push(name);
    if (!response.more) this.revision = revision;
    if (names.length > 0) this.#events.changed(this, names);
  }
}

function loggersIn({ event }: WatchLoggersResponse): [string, RemoteLogger][] {
  if (event.case !== "snapshot" && event.case !== "change") return [];
  return event.value.loggers.map((logger) => [logger.name, remoteLogger(logger)]);
}
