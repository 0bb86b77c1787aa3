import type { Level } from "../../src/loggers/level.ts";

/** Groups for the model: prefixes shared, nested, mixed with single members, and everything. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  one: ["a.*"],
  two: ["a.*", "b", "a.a"],
  deep: ["a.b.*"],
  all: ["ROOT.*"],
};

const segments = ["a", "b"];
const tops = segments;
const seconds = tops.flatMap((top) => segments.map((segment) => `${top}.${segment}`));
const thirds = seconds.flatMap((second) => segments.map((segment) => `${second}.${segment}`));

/** Every name that there can be, parents first. */
export const NAMES: readonly string[] = [...tops, ...seconds, ...thirds];

/** What an operator set, with their words: a level or, undefined, to inherit. */
interface Setting {
  readonly level: Level | undefined;
  readonly reason?: string | undefined;
}

interface Temporary extends Setting {
  readonly until: number;
  readonly lease?: object | undefined;
}

interface Subject {
  /** Undefined while no operator decides. */
  lasting: Setting | undefined;
  temporary: Temporary[];
  /** The levels that the application set on the loggers of this name. */
  readonly own: Map<object, Level | undefined>;
}

/** What is seen of a logger or group. */
export interface Seen {
  readonly level: Level | undefined;
  readonly reason: string | undefined;
  readonly until: number | undefined;
}

/**
 * Levels in the most naive way: every name that could be is there from the start, so that none ever appears, a group is a list
 * of names, and a restart forgets what it should.
 */
export class NaiveLevels {
  readonly #subjects = new Map<string, Subject>();

  constructor() {
    for (const name of ["ROOT", ...NAMES, ...Object.keys(GROUPS)]) {
      this.#subjects.set(name, { lasting: undefined, temporary: [], own: new Map() });
    }
  }

  /** `until`: when it ends by itself; Infinity for never. Neither that nor a lease: it is there for good. */
  set(name: string, setting: Setting, until?: number, lease?: object): void {
    for (const subject of this.#reachedBy(name)) {
      if (until === undefined) {
        subject.lasting = setting;
        subject.temporary = [];
      } else {
        // The same level for another time replaces the one before.
        const isSame = (other: Temporary) => other.lease === undefined && other.level === setting.level;
        if (lease === undefined) subject.temporary = subject.temporary.filter((other) => !isSame(other));
        subject.temporary.push({ ...setting, until, lease });
      }
    }
  }

  clear(name: string): void {
    for (const subject of this.#reachedBy(name)) {
      const inherits = subject !== this.#subjects.get("ROOT") && [...subject.own.values()].some((own) => own);
      takeBack(subject, inherits ? { level: undefined } : undefined);
    }
  }

  restore(name: string): void {
    for (const subject of this.#reachedBy(name)) takeBack(subject);
  }

  restoreAll(): void {
    for (const subject of this.#subjects.values()) takeBack(subject);
  }

  /** The application makes a logger; `level` is one that it gives it. */
  born(name: string, logger: object, level: Level | undefined): void {
    this.#subjects.get(name)!.own.set(logger, level);
  }

  /** The application sets a level directly on its logger. */
  outside(name: string, logger: object, level: Level): void {
    const subject = this.#subjects.get(name)!;
    subject.own.set(logger, level);
    takeBack(subject);
  }

  release(lease: object): void {
    this.#end((temporary) => temporary.lease === lease);
  }

  passTo(now: number): void {
    this.#end(({ until }) => until <= now);
  }

  /** The process ends and starts anew, with loggers that are yet to be made. */
  restart(): void {
    for (const subject of this.#subjects.values()) {
      // To inherit is not stored.
      if (subject.lasting?.level === undefined) subject.lasting = undefined;
      subject.temporary = subject.temporary.filter(({ lease }) => lease === undefined);
      subject.own.clear();
    }
  }

  seen(name: string): Seen {
    const { lasting, temporary, own } = this.#subjects.get(name)!;
    const top = temporary.at(-1);
    const until = top === undefined || top.until === Number.POSITIVE_INFINITY ? undefined : top.until;
    const levels = new Set(own.values());
    const applications = own.size === 0 && name === "ROOT" ? "INFO" : levels.size === 1 ? [...levels][0] : undefined;
    const { level, reason } = top ?? lasting ?? { level: applications };
    return { level, reason, until };
  }

  #end(over: (temporary: Temporary) => boolean): void {
    for (const subject of this.#subjects.values()) subject.temporary = subject.temporary.filter((each) => !over(each));
  }

  #reachedBy(name: string): Set<Subject> {
    const names = (GROUPS[name] ?? []).flatMap((member) => {
      if (!member.endsWith(".*")) return [member];
      const prefix = member.slice(0, -2);
      if (prefix === "ROOT") return tops;
      return NAMES.filter((other) => other.slice(0, other.lastIndexOf(".")) === prefix && other.includes("."));
    });
    return new Set([name, ...names].map((each) => this.#subjects.get(each)!));
  }
}

function takeBack(subject: Subject, lasting?: Setting): void {
  subject.lasting = lasting;
  subject.temporary = [];
}
