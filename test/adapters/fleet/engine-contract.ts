import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FleetDocument, FleetEngine, FleetEngineSource } from "../../../src/fleet/engine.ts";

/** What the fleet itself waits for a call before it resets the engine. */
const DEADLINE_MS = 4000;
/** When to give up an engine that never answers. */
const PATIENCE_MS = 40_000;

/** The server behind an engine, as the fixtures in test/support start it. */
export interface EngineServer {
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** The server stops answering while its connections stay open. */
  freeze?(): void;
  thaw?(): void;
}

/** An engine under test. */
export interface OpenedSource {
  readonly source: FleetEngineSource;
  /** Left out: there is no server that could be away. Its data need not survive `kill`. */
  readonly server?: EngineServer;
  /** Whether hints arrive; default: true. */
  readonly hints?: boolean;
  stop(): Promise<void>;
}

/** Tests an engine against the port `src/fleet/engine.ts`. Each test has fleets of its own in one server. */
export function testFleetEngine(name: string, open: () => Promise<OpenedSource>): void {
  describe(name, () => {
    let opened: OpenedSource;
    let fleets = 0;
    const members: Member[] = [];

    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.stop());
    afterEach(() => Promise.all(members.splice(0).map(({ engine }) => engine.close())));

    const fleetName = () => `fleet-${++fleets}_a.${process.pid}`;

    async function join(fleet: string): Promise<Member> {
      const member = new Member(opened.source.open(fleet));
      members.push(member);
      await member.answered(() => member.engine.exchange(""));
      return member;
    }

    test("names its kind", async () => {
      const { engine } = await join(fleetName());
      expect(engine.kind).toBe(opened.source.kind);
      expect(engine.kind).toMatch(/^[a-z]+$/);
    });

    test("a new fleet has an empty document and no instance", async () => {
      const { engine } = await join(fleetName());
      expect((await engine.exchange("another")).document).toEqual({ version: "", text: "" });
      expect((await engine.exchange("")).document).toBeUndefined();
      expect(await engine.instances()).toEqual([]);
    });

    test("gives a clock in milliseconds", async () => {
      const { engine } = await join(fleetName());
      const { now } = await engine.exchange("");
      expect(Math.abs(now - Date.now())).toBeLessThan(PATIENCE_MS);
      await delay(20);
      expect((await engine.exchange("")).now).toBeGreaterThan(now);
    });

    test("gives the document only to callers that have another version", async () => {
      const fleet = fleetName();
      const [writer, reader] = await Promise.all([join(fleet), join(fleet)]);
      expect(await writer.engine.store(documentOf("1"), "", "")).toBe(true);
      expect((await reader.engine.exchange("")).document).toEqual(documentOf("1"));
      expect((await reader.engine.exchange("1")).document).toBeUndefined();
      expect(await reader.engine.store(documentOf("2"), "1", "")).toBe(true);
      expect((await writer.engine.exchange("1")).document).toEqual(documentOf("2"));
      expect((await writer.engine.exchange("2")).document).toBeUndefined();
    });

    test("refuses to replace a document of another version", async () => {
      const { engine } = await join(fleetName());
      expect(await engine.store(documentOf("1"), "another", "")).toBe(false);
      expect((await engine.exchange("?")).document?.version).toBe("");
      expect(await engine.store(documentOf("1"), "", "")).toBe(true);
      expect(await engine.store(documentOf("2"), "", "")).toBe(false);
      expect(await engine.store(documentOf("2"), "another", "")).toBe(false);
      expect((await engine.exchange("")).document).toEqual(documentOf("1"));
    });

    test("of many writers at once, one succeeds", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      let version = "";
      for (let round = 0; round < 5; round++) {
        const versions = Array.from({ length: 8 }, (_, at) => `${round}-${at}`);
        const stored = await Promise.all(
          versions.map((next, at) => (at % 2 === 0 ? one : two).engine.store(documentOf(next), version, next)),
        );
        expect(stored.filter(Boolean)).toHaveLength(1);
        const winner = versions[stored.indexOf(true)]!;
        expect((await one.engine.exchange(version)).document).toEqual(documentOf(winner));
        version = winner;
      }
    });

    test("carries a document of 500 KB", async () => {
      const fleet = fleetName();
      const [writer, reader] = await Promise.all([join(fleet), join(fleet)]);
      const large = { version: "large", text: JSON.stringify("é".repeat(250_000)) };
      expect(await writer.engine.store(large, "", "")).toBe(true);
      expect((await reader.engine.exchange("")).document).toEqual(large);
      expect(await reader.engine.store(documentOf("small"), "large", "")).toBe(true);
    });

    test("carries any text", async () => {
      const { engine } = await join(fleetName());
      const text = JSON.stringify({ "é 漢 🦊 \u2028": "\u0000 '\"\\ $1 %s {} \n" });
      expect(await engine.store({ version: "v", text }, "", text)).toBe(true);
      expect((await engine.exchange("", { id: "a", text })).document).toEqual({ version: "v", text });
      expect(await engine.instances()).toEqual([{ id: "a", text, seen: expect.any(Number) }]);
    });

    test("keeps the latest report of each instance, and when it was written", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      const ids = ["a", "2b7e1516-28ae-4d2a-abf7-158809cf4f3c", "web.7f_b", "host:8080/é *"];
      for (const id of ids) await one.engine.exchange("", { id, text: "first" });
      const { now: before } = await two.engine.exchange("");
      await two.engine.exchange("", { id: "a", text: "second" });
      const { now: after } = await two.engine.exchange("");
      const reports = await one.engine.instances();
      expect(reports.map(({ id, text }) => `${id} ${text}`).sort()).toEqual(
        ids.map((id) => `${id} ${id === "a" ? "second" : "first"}`).sort(),
      );
      for (const { id, seen } of reports) {
        expect(Number.isInteger(seen)).toBe(true);
        if (id === "a") expect(seen).toBeGreaterThanOrEqual(before);
        else expect(seen).toBeLessThanOrEqual(before);
        expect(seen).toBeLessThanOrEqual(after);
      }
    });

    test("removes a report when its instance ends", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      await one.engine.exchange("", { id: "one", text: "1" });
      await two.engine.exchange("", { id: "two", text: "2" });
      await one.engine.close("one");
      await one.engine.close("one");
      expect((await two.engine.instances()).map(({ id }) => id)).toEqual(["two"]);
    });

    test("keeps the report of an engine that ends without its id", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      await one.engine.exchange("", { id: "one", text: "1" });
      await one.engine.close();
      expect((await two.engine.instances()).map(({ id }) => id)).toEqual(["one"]);
    });

    test("can end before it is connected", async () => {
      const engine = opened.source.open(fleetName());
      engine.onHint(() => {});
      await engine.close("a");
      await engine.close();
    });

    test("fleets of different names are separate", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(`${fleet}0`)]);
      await one.engine.exchange("", { id: "one", text: "1" });
      expect(await one.engine.store(documentOf("1"), "", "")).toBe(true);
      expect((await two.engine.exchange("?")).document?.version).toBe("");
      expect(await two.engine.instances()).toEqual([]);
      expect(await two.engine.store(documentOf("2"), "", "")).toBe(true);
      expect((await one.engine.exchange("")).document).toEqual(documentOf("1"));
    });

    test("works again after a reset", async () => {
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      expect(await one.engine.store(documentOf("1"), "", "")).toBe(true);
      await one.engine.reset();
      await one.engine.reset();
      expect((await one.answered(() => one.engine.exchange(""))).document).toEqual(documentOf("1"));
      expect(await one.engine.store(documentOf("2"), "1", "")).toBe(true);
      expect((await two.engine.exchange("1")).document).toEqual(documentOf("2"));
      if (opened.hints !== false) await hearing(two, one);
    });

    test("gives hints to all instances of its fleet, and to no other", async () => {
      if (opened.hints === false) return;
      const fleet = fleetName();
      const [one, two, other] = await Promise.all([join(fleet), join(fleet), join(`${fleet}0`)]);
      await hearing(one, two);
      await hearing(two, one);
      await hearing(other, other);
      await one.change("only é 漢 🦊 here");
      await two.hears("only é 漢 🦊 here");
      await one.hears("only é 漢 🦊 here");
      await other.change("there");
      await other.hears("there");
      expect(other.heard).not.toContain("only é 漢 🦊 here");
      expect(two.heard).not.toContain("there");
    });

    test("gives no hint for a document that was not stored", async () => {
      if (opened.hints === false) return;
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      await hearing(one, two);
      expect(await one.engine.store(documentOf("x"), "stale", "stale")).toBe(false);
      await one.change("good");
      await two.hears("good");
      expect(two.heard).not.toContain("stale");
    });

    test.each([7_000, 9_000, 70_000])("a hint of %d bytes arrives whole or empty", async (size) => {
      if (opened.hints === false) return;
      const fleet = fleetName();
      const [one, two] = await Promise.all([join(fleet), join(fleet)]);
      await hearing(one, two);
      const heard = two.heard.length;
      const large = JSON.stringify("é".repeat(size / 2));
      await one.change(large);
      await expect.poll(() => two.heard.length).toBeGreaterThan(heard);
      expect([large, "", undefined]).toContain(two.heard.at(-1));
    });

    test("calls do not resolve while the server is away, and work again when it is back", async () => {
      const { server } = opened;
      if (server === undefined) return;
      const fleet = fleetName();
      const [one, two, leaving] = await Promise.all([join(fleet), join(fleet), join(fleet)]);
      await one.engine.exchange("", { id: "one", text: "1" });
      await server.kill();
      const calls = [
        one.engine.exchange("", { id: "one", text: "1" }),
        one.engine.store(documentOf("lost"), "", ""),
        one.engine.instances(),
      ];
      expect(await Promise.all(calls.map(outcomeOf))).not.toContain("resolved");
      expect(await outcomeOf(leaving.engine.close("leaving"))).toBe("resolved");
      await one.engine.reset();
      expect(await outcomeOf(two.engine.exchange(""))).not.toBe("resolved");
      const late = new Member(opened.source.open(fleet));
      members.push(late);
      expect(await outcomeOf(late.engine.exchange(""))).not.toBe("resolved");
      await server.restart();
      const heard = two.heard.length;
      for (const member of [one, two, late]) await member.answered(() => member.engine.exchange("?"));
      expect(await one.change("back")).not.toBe("");
      if (opened.hints === false) return;
      await expect.poll(() => two.heard.length).toBeGreaterThan(heard);
      await hearing(one, two);
      await hearing(one, late);
    });

    test("works again after the server was frozen and the connection reset", async () => {
      const { server } = opened;
      if (server?.freeze === undefined) return;
      const fleet = fleetName();
      const [one, leaving] = await Promise.all([join(fleet), join(fleet)]);
      server.freeze();
      try {
        expect(await outcomeOf(one.engine.exchange(""))).not.toBe("resolved");
        await one.engine.reset();
        expect(await outcomeOf(leaving.engine.close("leaving"))).toBe("resolved");
      } finally {
        server.thaw?.();
      }
      await one.answered(() => one.engine.exchange(""));
      await one.change("thawed");
      if (opened.hints !== false) await hearing(one, one);
    });
  });
}

/** An engine that is used as the fleet uses it, with all hints that it gave. */
class Member {
  readonly engine: FleetEngine;
  readonly heard: (string | undefined)[] = [];

  constructor(engine: FleetEngine) {
    this.engine = engine;
    engine.onHint((hint) => this.heard.push(hint));
  }

  /** Repeats a call until it is answered. As the fleet does, resets the engine if it does not answer in time. */
  async answered<T>(call: () => Promise<T>): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await within(call());
      } catch (error) {
        if (performance.now() > end) throw error;
        if (error === LATE) await this.engine.reset();
        else await delay(20);
      }
    }
  }

  /** Stores another document with this hint. Returns its version. */
  async change(hint: string): Promise<string> {
    for (;;) {
      const { document } = await this.answered(() => this.engine.exchange("?"));
      const next = crypto.randomUUID();
      if (await this.answered(() => this.engine.store(documentOf(next), document!.version, hint))) return next;
    }
  }

  async hears(hint: string): Promise<void> {
    await expect.poll(() => this.heard).toContain(hint);
  }
}

/** Waits until `listener` hears the hints of `writer`: a subscription may take longer than the first call. */
async function hearing(writer: Member, listener: Member): Promise<void> {
  const marks = new Set<string | undefined>();
  await expect
    .poll(
      async () => {
        const mark = `mark ${crypto.randomUUID()}`;
        marks.add(mark);
        await writer.change(mark);
        await delay(20);
        return listener.heard.some((hint) => marks.has(hint));
      },
      { timeout: PATIENCE_MS },
    )
    .toBe(true);
}

const LATE = new Error("no answer in time");

async function within<T>(call: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(DEADLINE_MS, undefined, { signal: timer.signal }).then(() => Promise.reject(LATE));
  late.catch(() => {});
  return await Promise.race([call, late]).finally(() => timer.abort());
}

async function outcomeOf(call: Promise<unknown>): Promise<"resolved" | "rejected" | "silent"> {
  return await within(call).then(
    () => "resolved",
    (error: unknown) => {
      if (error === LATE) return "silent";
      expect(error).toBeInstanceOf(Error);
      return "rejected";
    },
  );
}

function documentOf(version: string): FleetDocument {
  return { version, text: JSON.stringify({ version }) };
}
