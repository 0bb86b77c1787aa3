import fc from "fast-check";
import { expect, vi } from "vitest";
import type { LoggerHandle, LoggerHost } from "../../src/loggers/adapter.ts";
import type { Lease } from "../../src/loggers/lease.ts";
import { LEVELS } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import { nativeHandle } from "./native-handle.ts";
import { GROUPS, NAMES, NaiveLevels, type Seen } from "./state-model.ts";

const logger = fc.constantFrom(...NAMES);
const name = fc.oneof(
  { weight: 4, arbitrary: logger },
  { weight: 4, arbitrary: fc.constantFrom(...Object.keys(GROUPS)) },
  { weight: 1, arbitrary: fc.constant("ROOT") },
);
const level = fc.constantFrom(...LEVELS);
const time = fc.integer({ min: 1, max: 50 });
const doing = <Name extends string>(what: Name) => fc.constant(what);

/** One thing that happens to loggers. */
export const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: doing("set"), name, level }) },
  { weight: 4, arbitrary: fc.record({ do: doing("setFor"), name, level, ttl: time }) },
  { weight: 3, arbitrary: fc.record({ do: doing("born"), name: logger, level: fc.option(level, { nil: undefined }) }) },
  { weight: 2, arbitrary: fc.record({ do: doing("clear"), name }) },
  { weight: 2, arbitrary: fc.record({ do: doing("restore"), name }) },
  { weight: 1, arbitrary: fc.record({ do: doing("restoreAll") }) },
  { weight: 2, arbitrary: fc.record({ do: doing("hold"), name, level, ttl: fc.option(time, { nil: 0 }) }) },
  { weight: 2, arbitrary: fc.record({ do: doing("release"), which: fc.nat(100) }) },
  { weight: 2, arbitrary: fc.record({ do: doing("outside"), which: fc.nat(100), level }) },
  { weight: 3, arbitrary: fc.record({ do: doing("pass"), time }) },
);

/** One thing that happens to loggers. */
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** An application with its loggers, and beside it the naive model that it has to agree with. Timers are fake. */
export class Sequence {
  readonly model = new NaiveLevels();
  loggers!: Loggers;
  #host!: LoggerHost;
  #native: { readonly name: string; readonly handle: LoggerHandle }[] = [];
  #leases: Lease[] = [];
  #count = 0;

  constructor(options: LoggersOptions = {}) {
    this.start(options);
  }

  /** A new process. */
  start(options: LoggersOptions): void {
    this.loggers = new Loggers({ ...options, groups: GROUPS, allowForever: true }, (error) => {
      throw error;
    });
    this.#native = [];
    this.#leases = [];
    this.loggers.attach({
      kind: "test",
      attach: (host) => {
        this.#host = host;
        return () => {};
      },
    });
  }

  run(at: Step): void {
    const { loggers, model } = this;
    const reason = `#${this.#count++}`;
    if (at.do === "set") {
      loggers.setLevel(at.name, at.level, { reason });
      model.set(at.name, { level: at.level, reason });
    } else if (at.do === "setFor") {
      loggers.setLevel(at.name, at.level, { reason, ttlMs: at.ttl });
      model.set(at.name, { level: at.level, reason }, Date.now() + at.ttl);
    } else if (at.do === "hold") {
      const { lease } = loggers.holdLevel(at.name, at.level, { reason, ttlMs: at.ttl });
      this.#leases.push(lease);
      model.set(at.name, { level: at.level, reason }, at.ttl ? Date.now() + at.ttl : Number.POSITIVE_INFINITY, lease);
    } else if (at.do === "release") {
      const [lease] = this.#leases.splice(at.which % Math.max(1, this.#leases.length), 1);
      if (lease === undefined) return;
      lease.release();
      model.release(lease);
    } else if (at.do === "clear") {
      loggers.setLevel(at.name, undefined);
      model.clear(at.name);
    } else if (at.do === "restore") {
      if (loggers.get(at.name) === undefined) return;
      loggers.restoreLevel(at.name);
      model.restore(at.name);
    } else if (at.do === "restoreAll") {
      loggers.restoreAllLevels();
      model.restoreAll();
    } else if (at.do === "born") {
      const handle = nativeHandle(at.level);
      this.#native.push({ name: at.name, handle });
      this.#host.discovered(at.name, handle, at.level);
      model.born(at.name, handle, at.level);
    } else if (at.do === "outside") {
      const native = this.#native[at.which % Math.max(1, this.#native.length)];
      if (native === undefined) return;
      this.#host.changedOutside(native.handle, at.level);
      model.outside(native.name, native.handle, at.level);
    } else {
      vi.advanceTimersByTime(at.time);
      model.passTo(Date.now());
    }
  }

  /** Compares what is known now. */
  check(): void {
    const { loggers, groups } = this.loggers.list();
    for (const { name, configuredLevel, override } of [...loggers, ...groups]) {
      const seen: Seen = { level: configuredLevel, reason: override?.reason, until: override?.expireTime };
      expect(seen, name).toEqual(this.model.seen(name));
    }
  }

  /** Lets every logger appear that there can be, and compares. */
  checkAll(): void {
    for (const each of NAMES) this.run({ do: "born", name: each, level: undefined });
    expect(this.loggers.list().loggers).toHaveLength(NAMES.length + 1);
    this.check();
  }
}
