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

/** A level and the words of who set it; without words, the application did. */
interface Setting {
  readonly level: Level | undefined;
  readonly reason?: string | undefined;
}

interface Temporary extends Setting {
  readonly until: number;
  readonly lease?: object | undefined;
}

interface Subject {
  lasting: Setting;
  temporary: Temporary[];
  baseline: Level | undefined;
  native: boolean;
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
    for (const name of ["ROOT", ...NAMES, ...Object.keys(GROUPS)]) this.#subjects.set(name, fresh(name));
  }

  /** `until`: when it ends by itself; Infinity for never. Neither that nor a lease: it is there for good. */
  set(name: string, setting: Setting, until?: number, lease?: object): void {
    for (const subject of this.#reachedBy(name)) {
      if (until === undefined) {
        subject.lasting = setting;
        subject.temporary = [];
      } else {
        if (lease === undefined) subject.temporary = subject.temporary.filter((other) => other.lease !== undefined);
        subject.temporary.push({ ...setting, until, lease });
      }
    }
  }

  clear(name: string): void {
    for (const subject of this.#reachedBy(name)) takeBack(subject, this.#inherited(subject));
  }

  restore(name: string): void {
    for (const subject of this.#reachedBy(name)) takeBack(subject, subject.baseline ?? this.#inherited(subject));
  }

  restoreAll(): void {
    for (const subject of this.#subjects.values()) takeBack(subject, subject.baseline ?? this.#inherited(subject));
  }

  /** The application makes a logger; `level` is one that it gives it. */
  born(name: string, level: Level | undefined): void {
    const subject = this.#subjects.get(name)!;
    if (!subject.native && subject.baseline === undefined && level !== undefined) {
      subject.baseline = level;
      if (subject.lasting.reason === undefined) subject.lasting = { level };
    }
    subject.native = true;
  }

  /** The application sets a level directly on its logger. */
  outside(name: string, level: Level): void {
    takeBack(this.#subjects.get(name)!, level);
  }

  release(lease: object): void {
    this.#end((temporary) => temporary.lease === lease);
  }

  passTo(now: number): void {
    this.#end(({ until }) => until <= now);
  }

  /** The process ends and starts anew, with loggers that are yet to be made. */
  restart(): void {
    for (const [name, subject] of this.#subjects) {
      const { lasting } = fresh(name);
      if (subject.lasting.reason === undefined) subject.lasting = lasting;
      subject.temporary = subject.temporary.filter(({ lease }) => lease === undefined);
      subject.baseline = undefined;
      subject.native = false;
    }
  }

  seen(name: string): Seen {
    const { lasting, temporary } = this.#subjects.get(name)!;
    const top = temporary.at(-1);
    const until = top === undefined || top.until === Number.POSITIVE_INFINITY ? undefined : top.until;
    const { level, reason } = top ?? lasting;
    return { level, reason, until };
  }

  isTemporary(name: string): boolean {
    return this.#subjects.get(name)!.temporary.length > 0;
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

  #inherited(subject: Subject): Level | undefined {
    return subject === this.#subjects.get("ROOT") ? "INFO" : undefined;
  }
}

function fresh(name: string): Subject {
  return {
    lasting: { level: name === "ROOT" ? "INFO" : undefined },
    temporary: [],
    baseline: undefined,
    native: false,
  };
}

function takeBack(subject: Subject, level: Level | undefined): void {
  subject.lasting = { level };
  subject.temporary = [];
}
