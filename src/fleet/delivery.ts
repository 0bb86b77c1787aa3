import { bringLevel, endLevel } from "./bring.ts";
import { type Delivered, endOf, isLeft } from "./delivered.ts";
import { Errands } from "./errands.ts";
import type { Instance } from "./instance.ts";
import type { Notices } from "./notices.ts";
import { mayPass, reasonOf, words } from "./remote.ts";
import { type Ended, isSame, isWanted, type Wanted } from "./wanted.ts";

/** For so long before its end a level may have ended there already. */
const EARLY_MS = 1_000;

/**
 * Brings what is wanted to one instance, the latest of each name only and in order. A level is set once in each process there:
 * what is changed there afterwards stays, and is told.
 */
export class Delivery {
  readonly #instance: Instance;
  readonly #notices: Notices;
  readonly #delivered = new Map<string, Delivered>();
  readonly #errands: Errands<Wanted | Ended>;

  /** `settled` hears when nothing is under way for a name any more. */
  constructor(instance: Instance, notices: Notices, settled: (instance: Instance, name: string) => void) {
    this.#instance = instance;
    this.#notices = notices;
    this.#errands = new Errands({
      isOpen: () => instance.isReachable,
      run: (asked) => this.#bring(asked),
      settled: (name) => settled(instance, name),
    });
  }

  /** Whether a change of this logger is under way to the instance. */
  isBusy(name: string): boolean {
    return this.#errands.isBusy(name);
  }

  /** Asks the instance for this, now or when it is back. */
  ask(asked: Wanted | Ended): void {
    const { name } = asked;
    const before = this.#delivered.get(name);
    clearTimeout(before?.renewal);
    if (!isWanted(asked)) {
      this.#notices.tell(name, this.#topic, undefined);
      if (asked.kind === "EXPIRED" && !isLeft(before)) {
        this.#delivered.delete(name);
        this.#errands.drop(name);
        return;
      }
    }
    this.#errands.put(asked);
    if (!this.#instance.isReachable) this.#tellMissing(asked);
    this.#errands.go();
  }

  /** The instance is there, for the first time or again: everything wanted is brought to it that it does not have. */
  async sync(wanted: Iterable<Wanted>): Promise<void> {
    const isNew = !(await this.#isSameProcess());
    if (!this.#instance.isReachable) return;
    if (isNew) this.#forget();
    for (const each of wanted) {
      this.#notices.tell(each.name, this.#topic, undefined);
      const known = this.#delivered.get(each.name);
      if (known !== undefined && isSame(known.wanted, each)) this.check([each.name]);
      else if (this.#adopts(each)) this.#errands.drop(each.name);
      else this.#errands.put(each);
    }
    this.#errands.go(true);
  }

  /** Sees whether wanted levels are still what they were set to. */
  check(names: Iterable<string>): void {
    for (const name of names) {
      const known = this.#delivered.get(name);
      const logger = this.#instance.loggers.get(name);
      if (known?.state !== "set" || logger === undefined || this.#instance.revision < known.revision) continue;
      if (this.isBusy(name) || logger.override?.setTime === known.setTime) continue;
      // It ended there by itself: as it will here, or because this process stood still.
      if (Date.now() > endOf(known) - EARLY_MS) {
        if (known.until !== undefined) this.#renew(known);
        continue;
      }
      this.#overrule(known, `it is ${logger.configured ?? "inherited"} there since somebody changed it there`);
    }
  }

  /** The instance is out of reach. */
  lost(wanted: Iterable<Wanted>): void {
    for (const each of wanted) this.#tellMissing(each);
  }

  /** Waits for what is under way, and asks for nothing more. */
  async close(): Promise<void> {
    await this.#errands.close();
    for (const { renewal } of this.#delivered.values()) clearTimeout(renewal);
  }

  get #topic(): string {
    return `delivery to ${this.#instance.label}`;
  }

  /** The process there is another one: it has none of what was set, and never had what was to be cleared. */
  #forget(): void {
    for (const { renewal } of this.#delivered.values()) clearTimeout(renewal);
    this.#delivered.clear();
    for (const asked of this.#errands.due()) {
      if (isWanted(asked)) continue;
      const { name } = asked;
      this.#errands.drop(name);
      this.#notices.tell(name, this.#topic, undefined);
    }
  }

  #tellMissing(asked: Wanted | Ended): void {
    const { label } = this.#instance;
    const what = isWanted(asked) ? asked.level : asked.kind.toLowerCase();
    const message = `not known to be ${what} at ${label}, which did not answer; it is asked again`;
    this.#notices.tell(asked.name, this.#topic, message);
  }

  #overrule(known: Delivered, why: string): void {
    known.state = "overruled";
    clearTimeout(known.renewal);
    const { name, level } = known.wanted;
    this.#notices.tell(name, this.#topic, `not ${level} at ${this.#instance.label}: ${why}`);
  }

  /** What the instance has already: from before, out of its state file, or newer and of somebody else. */
  #adopts(wanted: Wanted): boolean {
    const logger = this.#instance.loggers.get(wanted.name);
    const override = logger?.override;
    if (override === undefined) return false;
    const revision = this.#instance.revision;
    const known = { wanted, state: "set" as const, setTime: override.setTime, revision, until: undefined };
    if (override.reason === wanted.reason && logger?.configured === wanted.level) {
      this.#delivered.set(wanted.name, known);
      return true;
    }
    const isOurs = this.#delivered.get(wanted.name)?.setTime === override.setTime;
    if (isOurs || override.setTime <= wanted.override.setTime) return false;
    this.#delivered.set(wanted.name, known);
    this.#overrule(known, `somebody set ${logger?.configured} there later`);
    return true;
  }

  /** Whether the process there is the one that was asked before, by what it remembers. */
  async #isSameProcess(): Promise<boolean> {
    const known = [...this.#delivered.values()].find(({ setTime }) => setTime !== undefined);
    if (known === undefined) return this.#instance.isResumed;
    try {
      return await this.#instance.remote.remembers(known.wanted.name, known.setTime!);
    } catch {
      // Then nothing is set over what is there.
      return true;
    }
  }

  /** Whether the instance has answered; otherwise it is to be asked again. */
  async #bring(asked: Wanted | Ended): Promise<boolean> {
    const { name } = asked;
    try {
      if (isWanted(asked)) await this.#set(asked);
      else await this.#end(asked);
      this.#notices.tell(name, this.#topic, undefined);
    } catch (error) {
      if (mayPass(error)) {
        this.#tellMissing(asked);
        return false;
      }
      // What is not there needs no restoring.
      if (!isWanted(asked) && reasonOf(error) === "LOGGER_NOT_FOUND") return true;
      if (isWanted(asked)) this.#refuse(asked);
      const what = isWanted(asked) ? asked.level : asked.kind.toLowerCase();
      this.#notices.tell(name, this.#topic, `not ${what} at ${this.#instance.label}, which refuses: ${words(error)}`);
    }
    return true;
  }

  #refuse(wanted: Wanted): void {
    this.#delivered.set(wanted.name, { wanted, state: "refused", setTime: undefined, revision: 0n, until: undefined });
  }

  async #set(wanted: Wanted): Promise<void> {
    const { name } = wanted;
    const before = this.#delivered.get(name);
    const isLease = before?.until !== undefined && isSame(before.wanted, wanted);
    const brought = await bringLevel(this.#instance.remote, wanted, isLease);
    if (brought === undefined) return;
    const { logger, revision, lease } = brought;
    const setTime = logger?.override?.setTime;
    const delivered: Delivered = { wanted, state: "set", setTime, revision, until: lease && Date.now() + lease };
    clearTimeout(this.#delivered.get(name)?.renewal);
    this.#delivered.set(name, delivered);
    if (lease !== undefined) delivered.renewal = setTimeout(() => this.#renew(delivered), lease / 3).unref();
    if (logger !== undefined) this.#instance.take(name, logger, revision);
  }

  #renew(delivered: Delivered): void {
    const { wanted } = delivered;
    if (delivered.state !== "set" || this.#delivered.get(wanted.name) !== delivered) return;
    this.#errands.put(wanted);
    this.#errands.go();
  }

  async #end(ended: Ended): Promise<void> {
    const { name } = ended;
    const before = this.#delivered.get(name);
    if (ended.kind === "EXPIRED" && !isLeft(before)) return;
    const { logger, revision } = await endLevel(this.#instance.remote, ended, before?.wanted);
    this.#delivered.delete(name);
    if (logger !== undefined) this.#instance.take(name, logger, revision);
  }
}
