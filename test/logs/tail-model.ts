import { type Level, levelVerbosity } from "../../src/loggers/level.ts";

/** The loggers of the application, which inherit INFO from ROOT. */
export const NAMES = ["ROOT", "a", "a.b", "a.b.c", "d"];
/** The loggers whose level the application sets: those without loggers below. */
export const LEAVES = ["a.b.c", "d"];

export interface RaiseStep {
  readonly level: Level;
  readonly onlyHere: boolean;
}

export type Step =
  /** Every logger writes a record. */
  | { readonly kind: "write"; readonly level: Level }
  | { readonly kind: "open"; readonly names: readonly string[]; readonly level: Level; readonly raise?: RaiseStep }
  | { readonly kind: "close"; readonly tail: number }
  /** A tail is opened, its raise expires, and it is closed. */
  | { readonly kind: "expire"; readonly names: readonly string[]; readonly level: Level; readonly onlyHere: boolean }
  | { readonly kind: "application"; readonly name: string; readonly level: Level }
  | { readonly kind: "set"; readonly name: string; readonly level: Level }
  | { readonly kind: "restore"; readonly name: string };

export interface Heard {
  readonly logger: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly onlyHere: boolean;
}

/** What an application observed. */
export interface Observed {
  /** By tail. */
  readonly heard: readonly (readonly Heard[])[];
  readonly ends: readonly (readonly string[])[];
  /** After each step, of all names. */
  readonly levels: readonly (readonly string[])[];
}

interface ModelTail {
  readonly names: readonly string[];
  readonly level: Level;
  readonly raise: RaiseStep | undefined;
  readonly heard: { readonly id: number; readonly onlyHere: boolean }[];
  isOpen: boolean;
  /** The names on which its raise holds a level, and how many it held at first. */
  readonly held: Set<string>;
  isOverruled: boolean;
}

/** A naive model of levels and tails. */
export class TailModel {
  readonly tails: ModelTail[] = [];
  readonly written: number[] = [];
  readonly levels: (readonly string[])[] = [];
  readonly #hasNativeLevels: boolean;
  readonly #application = new Map<string, Level>();
  readonly #permanent = new Map<string, Level>();
  /** Held levels, the latest last. */
  #holds: { readonly name: string; readonly level: Level; readonly tail: ModelTail }[] = [];
  #id = 0;

  constructor(hasNativeLevels: boolean) {
    this.#hasNativeLevels = hasNativeLevels;
  }

  do(step: Step): void {
    if (step.kind === "write") for (const name of NAMES) this.#write(name, step.level);
    else if (step.kind === "open") this.#open(step);
    else if (step.kind === "close") this.#close(this.tails[step.tail % this.tails.length]);
    else if (step.kind === "application") this.#applicationSets(step.name, step.level);
    else if (step.kind === "set") {
      this.#overrule(step.name);
      this.#permanent.set(step.name, step.level);
    } else if (step.kind === "restore") {
      this.#overrule(step.name);
      this.#permanent.delete(step.name);
    }
    const levels = NAMES.map((name) => this.#levelOf(name));
    this.levels.push(levels);
    if (this.#hasNativeLevels) this.levels.push(levels);
  }

  /** Everything is put back. */
  end(): void {
    this.#holds = [];
    this.#permanent.clear();
    this.levels.push(NAMES.map((name) => this.#levelOf(name)));
  }

  /** @param ownHolds those that may count on the name itself */
  #levelOf(name: string, ownHolds = this.#holds): Level {
    const held = ownHolds.findLast((hold) => hold.name === name)?.level;
    const configured = held ?? this.#permanent.get(name) ?? this.#application.get(name);
    if (configured !== undefined) return configured;
    if (name === "ROOT") return "INFO";
    return this.#levelOf(name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "ROOT");
  }

  #write(name: string, level: Level): void {
    const id = this.#id++;
    const verbosity = levelVerbosity(level);
    const isWritten = verbosity <= levelVerbosity(this.#levelOf(name));
    if (isWritten) this.written.push(id);
    for (const tail of this.tails) {
      if (!tail.isOpen || !selects(tail.names, name) || verbosity > levelVerbosity(tail.level)) continue;
      const isHidden = tail.raise?.onlyHere === true && verbosity <= levelVerbosity(tail.raise.level);
      if (isWritten || isHidden) tail.heard.push({ id, onlyHere: !isWritten });
    }
  }

  #open({ names, level, raise }: Step & { kind: "open" }): void {
    const tail: ModelTail = { names, level, raise, heard: [], isOpen: true, held: new Set(), isOverruled: false };
    this.tails.push(tail);
    if (raise === undefined || raise.onlyHere) return;
    const targets = names.length === 0 ? ["ROOT"] : [...new Set(names.map((name) => name.replace(/\.\*$/, "")))];
    for (const name of targets) {
      const letsMoreThrough = (other: Level) => levelVerbosity(other) > levelVerbosity(raise.level);
      const own = this.#holds.filter((hold) => hold.name === name);
      // No level is lowered. What lets more through for a time stays above.
      const isBeneath = letsMoreThrough(this.#levelOf(name));
      if (isBeneath && (own.length === 0 || letsMoreThrough(this.#levelOf(name, [])))) continue;
      const above = own.slice(own.findLastIndex((hold) => !letsMoreThrough(hold.level)) + 1);
      tail.held.add(name);
      const at = isBeneath ? this.#holds.indexOf(above[0]!) : this.#holds.length;
      this.#holds.splice(at, 0, { name, level: raise.level, tail });
    }
  }

  #close(tail: ModelTail | undefined): void {
    if (tail === undefined) return;
    tail.isOpen = false;
    this.#holds = this.#holds.filter((hold) => hold.tail !== tail);
  }

  #applicationSets(name: string, level: Level): void {
    if (!this.#hasNativeLevels) return;
    this.#overrule(name);
    this.#permanent.delete(name);
    this.#application.set(name, level);
  }

  /** Ends what is held on a name; a raise that holds nothing any more has ended. */
  #overrule(name: string): void {
    for (const { tail } of this.#holds.filter((hold) => hold.name === name)) {
      tail.held.delete(name);
      if (tail.held.size === 0) tail.isOverruled = true;
    }
    this.#holds = this.#holds.filter((hold) => hold.name !== name);
  }
}

export function selects(names: readonly string[], name: string): boolean {
  if (names.length === 0) return true;
  return names.some((each) => {
    if (!each.endsWith(".*")) return each === name;
    return name.startsWith(each.slice(0, -1));
  });
}
