import type { Instance } from "./instance.ts";
import { errorText, isTransient, type Outcome, reasonOf } from "./instance-client.ts";
import { PerKeyQueue } from "./per-key-queue.ts";
import { type EndedLevel, isSame, isWanted, type WantedLevel } from "./wanted-level.ts";
import type { Warnings } from "./warnings.ts";

/** For how long a held level is set at a time, so that it ends soon after this process. */
const HELD_LEASE_MS = 60_000;
/** For how long a level is set at a time in an instance that does not allow its duration. */
const REFUSED_LEASE_MS = 300_000;
/** A level may have ended in the instance by this much before its end on the clock here. */
const CLOCK_TOLERANCE_MS = 1_000;

/** A wanted level as it was set in the instance. */
interface SyncedLevel {
  readonly wanted: WantedLevel;
  /** `overruled`: it was changed in the instance since, which is left alone. */
  state: "set" | "overruled" | "refused";
  /** When it was set, on the clock of the instance; identifies the setting. */
  readonly setTime: number | undefined;
  /** The revision of the answer; older news of the instance say nothing about this level. */
  readonly revision: bigint;
  /**
   * When it ends in the instance unless it is renewed, in milliseconds since the epoch on the clock here; undefined if it lasts
   * as long as it is wanted.
   */
  readonly leaseEnd: number | undefined;
  renewal?: NodeJS.Timeout | undefined;
}

/**
 * Sets the wanted levels in one instance, of each name only the latest, and in order. A level is set once in each process of the
 * instance: what is changed there afterwards stays, with a warning here.
 */
export class InstanceSync {
  readonly #instance: Instance;
  readonly #warnings: Warnings;
  readonly #topic: string;
  readonly #synced = new Map<string, SyncedLevel>();
  readonly #queue: PerKeyQueue<WantedLevel | EndedLevel>;

  /** `settled` is called after each attempt to change a logger of the instance. */
  constructor(instance: Instance, warnings: Warnings, settled: (instance: Instance, name: string) => void) {
    this.#instance = instance;
    this.#warnings = warnings;
    this.#topic = `levels at ${instance.label}`;
    this.#queue = new PerKeyQueue({
      isOpen: () => instance.isReachable,
      run: (requested) => this.#apply(requested),
      settled: (name) => settled(instance, name),
    });
  }

  /** Whether a change of this logger is on its way to the instance. */
  isBusy(name: string): boolean {
    return this.#queue.isBusy(name);
  }

  /** Sets or ends a level in the instance, now or when it is reachable again. */
  request(requested: WantedLevel | EndedLevel): void {
    const { name } = requested;
    const before = this.#synced.get(name);
    clearTimeout(before?.renewal);
    if (!isWanted(requested)) {
      this.#warnings.clear(name, this.#topic);
      if (requested.kind === "EXPIRED" && !isLeased(before)) {
        this.#synced.delete(name);
        this.#queue.remove(name);
        return;
      }
    }
    this.#queue.add(requested);
    if (!this.#instance.isReachable) this.#warnUnconfirmed(requested);
    this.#queue.start();
  }

  /** Sets every wanted level that the instance does not have; called when it is reachable, for the first time or again. */
  async sync(wanted: Iterable<WantedLevel>): Promise<void> {
    const isNewProcess = !(await this.#isSameProcess());
    if (!this.#instance.isReachable) return;
    if (isNewProcess) this.#forget();
    for (const each of wanted) {
      this.#warnings.clear(each.name, this.#topic);
      const synced = this.#synced.get(each.name);
      if (synced !== undefined && isSame(synced.wanted, each)) this.check([each.name]);
      else if (this.#adopt(each)) this.#queue.remove(each.name);
      else this.#queue.add(each);
    }
    this.#queue.start({ now: true });
  }

  /** Checks whether the instance still has the wanted levels as they were set. */
  check(names: Iterable<string>): void {
    for (const name of names) {
      const synced = this.#synced.get(name);
      const logger = this.#instance.loggers.get(name);
      if (synced?.state !== "set" || logger === undefined || this.#instance.revision < synced.revision) continue;
      if (this.isBusy(name) || logger.override?.setTime === synced.setTime) continue;
      // It expired there, as it will here, or because this process was suspended.
      if (Date.now() > endOf(synced) - CLOCK_TOLERANCE_MS) {
        if (synced.leaseEnd !== undefined) this.#renew(synced);
        continue;
      }
      const { configured } = logger;
      this.#overrule(
        synced,
        configured === undefined ? "it was cleared there" : `it was changed to ${configured} there`,
      );
    }
  }

  /** Warns on the wanted levels; called when the instance becomes unreachable. */
  lost(wanted: Iterable<WantedLevel>): void {
    for (const each of wanted) this.#warnUnconfirmed(each);
  }

  /** Waits for changes on their way, and makes no more. */
  async close(): Promise<void> {
    await this.#queue.close();
    for (const { renewal } of this.#synced.values()) clearTimeout(renewal);
  }

  /** A new process has none of the levels that were set, and need not end those that it never had. */
  #forget(): void {
    for (const { renewal } of this.#synced.values()) clearTimeout(renewal);
    this.#synced.clear();
    for (const requested of this.#queue.waiting()) {
      if (isWanted(requested)) continue;
      this.#queue.remove(requested.name);
      this.#warnings.clear(requested.name, this.#topic);
    }
  }

  #warnUnconfirmed(requested: WantedLevel | EndedLevel): void {
    const message = `${outcomeName(requested)} is not confirmed by ${this.#instance.label}, which did not answer; retrying`;
    this.#warnings.set(requested.name, this.#topic, message);
  }

  #overrule(synced: SyncedLevel, why: string): void {
    synced.state = "overruled";
    clearTimeout(synced.renewal);
    const { name, level } = synced.wanted;
    this.#warnings.set(name, this.#topic, `not ${level} at ${this.#instance.label}: ${why}`);
  }

  /** Takes over what the instance has already: the wanted level, out of its state file, or a newer one set by another caller. */
  #adopt(wanted: WantedLevel): boolean {
    const logger = this.#instance.loggers.get(wanted.name);
    const override = logger?.override;
    if (override === undefined) return false;
    const { revision } = this.#instance;
    const synced: SyncedLevel = { wanted, state: "set", setTime: override.setTime, revision, leaseEnd: undefined };
    if (override.reason === wanted.reason && logger?.configured === wanted.level) {
      this.#synced.set(wanted.name, synced);
      return true;
    }
    const isOurs = this.#synced.get(wanted.name)?.setTime === override.setTime;
    if (isOurs || override.setTime <= wanted.override.setTime) return false;
    this.#synced.set(wanted.name, synced);
    this.#overrule(synced, `${logger?.configured} was set there later`);
    return true;
  }

  /** Whether the process of the instance is the same as before, by its history. */
  async #isSameProcess(): Promise<boolean> {
    const synced = [...this.#synced.values()].find(({ setTime }) => setTime !== undefined);
    if (synced === undefined) return this.#instance.isResumed;
    try {
      return await this.#instance.client.remembers(synced.wanted.name, synced.setTime!);
    } catch {
      // If in doubt, nothing is overwritten.
      return true;
    }
  }

  /** Returns false if the instance did not answer, to be called again. */
  async #apply(requested: WantedLevel | EndedLevel): Promise<boolean> {
    const { name } = requested;
    try {
      if (isWanted(requested)) await this.#set(requested);
      else await this.#end(requested);
      this.#warnings.clear(name, this.#topic);
    } catch (error) {
      if (isTransient(error)) {
        this.#warnUnconfirmed(requested);
        return false;
      }
      if (isWanted(requested)) this.#markRefused(requested);
      // A logger that does not exist there needs no restoring.
      else if (reasonOf(error) === "LOGGER_NOT_FOUND") return true;
      const message = `not ${outcomeName(requested)} at ${this.#instance.label}, which refused: ${errorText(error)}`;
      this.#warnings.set(name, this.#topic, message);
    }
    return true;
  }

  #markRefused(wanted: WantedLevel): void {
    const nothing = { setTime: undefined, revision: 0n, leaseEnd: undefined };
    this.#synced.set(wanted.name, { wanted, state: "refused", ...nothing });
  }

  async #set(wanted: WantedLevel): Promise<void> {
    const { name, override } = wanted;
    const remainingMs = override.expireTime === undefined ? undefined : override.expireTime - Date.now();
    if (remainingMs !== undefined && remainingMs <= 0) return;
    const before = this.#synced.get(name);
    const wasLeased = before?.leaseEnd !== undefined && isSame(before.wanted, wanted);
    const { leaseMs, logger, revision } = await this.#setOrLease(wanted, remainingMs, wasLeased);
    const setTime = logger?.override?.setTime;
    const leaseEnd = leaseMs && Date.now() + leaseMs;
    const synced: SyncedLevel = { wanted, state: "set", setTime, revision, leaseEnd };
    clearTimeout(this.#synced.get(name)?.renewal);
    this.#synced.set(name, synced);
    if (leaseMs !== undefined) synced.renewal = setTimeout(() => this.#renew(synced), leaseMs / 3).unref();
    if (logger !== undefined) this.#instance.update(name, logger, revision);
  }

  /** Sets a level for as long as it is wanted or, if that is not possible, for a shorter time (`leaseMs`), to be renewed. */
  async #setOrLease(
    wanted: WantedLevel,
    remainingMs: number | undefined,
    wasLeased: boolean,
  ): Promise<Outcome & { readonly leaseMs: number | undefined }> {
    const { name, level, override, reason } = wanted;
    const { client } = this.#instance;
    const lease = async (maxMs: number) => {
      const leaseMs = Math.min(maxMs, remainingMs ?? maxMs);
      return { ...(await client.set(name, level, leaseMs, reason)), leaseMs };
    };
    if (override.held) return lease(HELD_LEASE_MS);
    if (wasLeased) return lease(REFUSED_LEASE_MS);
    try {
      return { ...(await client.set(name, level, remainingMs ?? 0, reason)), leaseMs: undefined };
    } catch (error) {
      if (reasonOf(error) !== "INVALID_TTL") throw error;
      return lease(REFUSED_LEASE_MS);
    }
  }

  #renew(synced: SyncedLevel): void {
    const { wanted } = synced;
    if (synced.state !== "set" || this.#synced.get(wanted.name) !== synced) return;
    this.#queue.add(wanted);
    this.#queue.start();
  }

  async #end({ name, kind, reason }: EndedLevel): Promise<void> {
    const before = this.#synced.get(name);
    if (kind === "EXPIRED" && !isLeased(before)) return;
    const { client } = this.#instance;
    const { logger, revision } = await (kind === "CLEARED"
      ? client.clear(name, reason)
      : kind === "RESTORED" || before === undefined
        ? client.restore(name, reason)
        : // A level for one millisecond replaces the leased one, and the level beneath comes back.
          client.set(name, before.wanted.level, 1, before.wanted.reason));
    this.#synced.delete(name);
    if (logger !== undefined) this.#instance.update(name, logger, revision);
  }
}

/** Only a leased level has to be ended when it expires: one with a time of its own ends by itself. */
function isLeased(before: SyncedLevel | undefined): boolean {
  return before?.state === "set" && before.leaseEnd !== undefined;
}

/** When it ends in the instance by itself, on the clock here. */
function endOf({ leaseEnd, wanted }: SyncedLevel): number {
  return Math.min(leaseEnd ?? Number.POSITIVE_INFINITY, wanted.override.expireTime ?? Number.POSITIVE_INFINITY);
}

/** What a logger should be: `DEBUG`, or `cleared`. */
function outcomeName(requested: WantedLevel | EndedLevel): string {
  return isWanted(requested) ? requested.level : requested.kind.toLowerCase();
}
