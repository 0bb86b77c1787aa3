import { setTimeout as delay } from "node:timers/promises";
import type { WatchLoggersResponse } from "../gen/actuator/v3/loggers_pb.ts";
import type { FleetInstance, FleetOptions } from "./options.ts";
import { Remote, words } from "./remote.ts";
import { type RemoteLogger, remoteLogger } from "./remote-logger.ts";

/** What an instance tells its fleet. */
export interface InstanceEvents {
  /** Everything of it is known now, for the first time or anew. */
  found(instance: Instance): void;
  /** These of its loggers are new, have changed or are gone. */
  changed(instance: Instance, names: readonly string[]): void;
  /** It does not answer any more, or did not at the first attempt. */
  lost(instance: Instance, reason: string): void;
}

const FIRST_WAIT_MS = 200;

/** One actuator, watched for as long as the fleet lives, and what is known of its loggers. */
export class Instance {
  /** What it is called in warnings. */
  readonly label: string;
  readonly remote: Remote;
  /** What it last said; nothing while it is out of reach. */
  readonly loggers = new Map<string, RemoteLogger>();
  /** The revision up to which it has told everything. */
  revision = 0n;
  isReachable = false;
  /** Whether its revision goes on where it was, as it does in one process. */
  isResumed = false;
  readonly #events: InstanceEvents;
  readonly #maxWaitMs: number;
  readonly #silenceMs: number;
  readonly #ended = new AbortController();
  /** By name, the revision of an answer that is newer than what the watch has told. */
  readonly #answered = new Map<string, bigint>();
  #running: Promise<void> = Promise.resolve();

  constructor(instance: FleetInstance, options: FleetOptions, events: InstanceEvents) {
    this.label = instance.name ?? instance.url;
    this.remote = new Remote(instance, options);
    this.#events = events;
    this.#maxWaitMs = options.maxReconnectMs ?? 10_000;
    this.#silenceMs = options.silenceMs ?? 45_000;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  /** Takes what an answer says of a logger, which the watch may tell only later. */
  take(name: string, logger: RemoteLogger, revision: bigint): void {
    if (!this.isReachable || revision < this.revision) return;
    this.#answered.set(name, revision);
    this.loggers.set(name, logger);
    this.#events.changed(this, [name]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    let attempts = 0;
    let told = false;
    while (!signal.aborted) {
      const reason = await this.#watch();
      if (signal.aborted) break;
      if (this.isReachable) attempts = 0;
      if (this.isReachable || !told) this.#lose(reason);
      told = true;
      // Those who lost the same instance, or many at once, must not come back in step.
      const wait = Math.min(this.#maxWaitMs, FIRST_WAIT_MS * 2 ** attempts++);
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
    this.isReachable = false;
  }

  #lose(reason: string): void {
    this.isReachable = false;
    this.loggers.clear();
    this.#answered.clear();
    this.#events.lost(this, reason);
  }

  /** Watches until that ends, and answers why. */
  async #watch(): Promise<string> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), this.#silenceMs);
    let snapshot: Map<string, RemoteLogger> | undefined;
    try {
      for await (const response of this.remote.watch(AbortSignal.any([this.#ended.signal, silence.signal]))) {
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
      return silence.signal.aborted ? `it was silent for ${this.#silenceMs} ms` : words(error);
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
      const answered = this.#answered.get(name);
      if (answered !== undefined && revision < answered) continue;
      this.#answered.delete(name);
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
