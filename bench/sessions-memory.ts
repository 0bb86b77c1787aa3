/**
 * What a session takes in the in-memory store, and how long the store searches, with 100,000 sessions and 1,000,000: beside a
 * bare Map of the same plain objects, and beside express-session's MemoryStore, which keeps the texts of JSON. Each is
 * filled in a process of its own; bytes are those of the heap after a collection, by the number of sessions, and times are
 * medians of single calls. Four sessions belong to each user.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import session from "express-session";
import { memorySessions } from "../src/index.ts";
import type { MemorySessionStore } from "../src/sessions/memory-store.ts";
import type { Session } from "../src/sessions/session.ts";
import { sessionDigest } from "../src/sessions/session-id.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const counts = [100_000, 1_000_000];
/** Memory is the same within a few bytes from one process to the next; times are not. */
const rounds = 3;

const usernameOf = (index: number) => `user${index >> 2}@shop.example`;

interface Filled {
  /** Milliseconds to fill it. */
  readonly fill: number;
  readonly bytes: number;
  /** Microseconds of one call, by what it does. */
  readonly times: Readonly<Record<string, number>>;
}

/** Something that holds sessions, as it is when it is full. */
interface Subject {
  readonly held: unknown;
  readonly calls: Readonly<Record<string, readonly [repeats: number, call: (round: number) => unknown]>>;
}

const subjects: Readonly<Record<string, (count: number) => Subject | Promise<Subject>>> = {
  "memorySessions()": async (count) => {
    const store = memorySessions({ maxSessions: count });
    for (let index = 0; index < count; index++) {
      store.put({ username: usernameOf(index), attributeNames: ["cart", "passport"] });
    }
    return { held: store, calls: await callsOf(store, count) };
  },
  "a bare Map of plain objects": (count) => {
    const sessions = new Map<string, Session>();
    for (let index = 0; index < count; index++) {
      const now = Date.now();
      const id = randomUUID();
      sessions.set(id, {
        id,
        attributeNames: ["cart", "passport"],
        creationTime: now,
        firstSeenTime: now,
        lastAccessedTime: now,
        maxInactiveInterval: 1800,
        expired: false,
        username: usernameOf(index),
      });
    }
    const search = (round: number) => {
      const username = usernameOf((round * 7919) % count);
      return [...sessions.values()].filter((each) => each.username === username);
    };
    return { held: sessions, calls: { "of one user": [5, search] } };
  },
  "express-session's MemoryStore": async (count) => {
    const store = new session.MemoryStore();
    for (let index = 0; index < count; index++) {
      const cookie = {
        originalMaxAge: 1_800_000,
        expires: new Date(Date.now() + 1_800_000),
        httpOnly: true,
        path: "/",
      };
      const record = { cookie, passport: { user: usernameOf(index) }, cart: [] };
      store.set(randomUUID().replaceAll("-", ""), record as unknown as session.SessionData);
      // It calls back each time in a turn of its own.
      if (index % 10_000 === 0) await new Promise(setImmediate);
    }
    await new Promise(setImmediate);
    const search = async (round: number) => {
      const username = usernameOf((round * 7919) % count);
      const all = await new Promise<object>((resolve) => store.all!((_, found) => resolve(found!)));
      return Object.values(all).filter(({ passport }) => passport.user === username);
    };
    return { held: store, calls: { "of one user": [3, search] } };
  },
};

async function callsOf(store: MemorySessionStore, count: number): Promise<Subject["calls"]> {
  const page = await store.list({ limit: 1_000 });
  const ids = page.sessions.map(({ id }) => id);
  const idOf = (round: number) => ids[round % ids.length]!;
  let middle = page.next;
  for (let at = 1_000; at < count / 2; at += 1_000) middle = (await store.list({ limit: 1_000, after: middle })).next;
  // The store resolves a digest by comparing all, in turns that others share.
  const digests = ids.slice(0, 3).map(sessionDigest);
  return {
    "by id": [10_000, (round) => store.findById(idOf(round))],
    "of one user": [10_000, (round) => store.findByUsername(usernameOf((round * 7919) % count))],
    "first page of 100": [500, () => store.list({ limit: 100 })],
    "page of 100 from the middle": [500, () => store.list({ limit: 100, after: middle })],
    "first page of 100 active": [500, () => store.list({ limit: 100, active: true })],
    count: [5, () => store.count({})],
    "count of active": [5, () => store.count({ active: true })],
    "id of a hash": [3, (round) => store.findIdByDigest(digests[round % 3]!)],
    touch: [10_000, (round) => store.touch(idOf(round * 7))],
  };
}

async function fill(name: string, count: number): Promise<Filled> {
  const collect = globalThis.gc!;
  // Compiles what is measured, and lets go of it.
  await subjects[name]!(1_000);
  collect();
  const before = process.memoryUsage();
  const began = performance.now();
  const { held, calls } = await subjects[name]!(count);
  const filled = performance.now() - began;
  collect();
  await new Promise(setImmediate);
  collect();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  const times: Record<string, number> = {};
  for (const [what, [repeats, call]] of Object.entries(calls)) {
    const each: number[] = [];
    for (let round = 0; round < repeats; round++) {
      const start = performance.now();
      await call(round);
      each.push((performance.now() - start) * 1000);
    }
    times[what] = median(each);
  }
  if (held === undefined) throw new Error("nothing was held");
  return { fill: filled, bytes: bytes / count, times };
}

if (process.send === undefined) {
  console.log(environment("express-session"));
  for (const count of counts) await compare(count);
} else {
  process.on("message", async ({ name, count }: { name: string; count: number }) =>
    process.send!(await fill(name, count)),
  );
  await once(process, "disconnect");
}

async function compare(count: number): Promise<void> {
  const results = new Map<string, Filled[]>(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, found] of results) {
      const child = new Child(process.argv[1]!, { execArgv: ["--expose-gc", "--max-old-space-size=4096"] });
      found.push(await child.ask<Filled>({ name, count }));
      await child.end();
    }
  }
  const of = (name: string, value: (filled: Filled) => number) => median(results.get(name)!.map(value));
  const [ours] = Object.keys(subjects) as [string];
  console.log();
  printTable(
    [`${count.toLocaleString("en")} sessions`, "bytes each", "ours by this", "to put one", "of one user"],
    Object.keys(subjects).map((name) => [
      name,
      of(name, ({ bytes }) => bytes).toFixed(0),
      (of(ours, ({ bytes }) => bytes) / of(name, ({ bytes }) => bytes)).toFixed(2),
      time((of(name, ({ fill }) => fill) * 1000) / count),
      time(of(name, ({ times }) => times["of one user"]!)),
    ]),
  );
  console.log();
  const [first] = results.get(ours)!;
  printTable(
    [ours, "median"],
    Object.keys(first!.times).map((what) => [what, time(of(ours, ({ times }) => times[what]!))]),
  );
}

function time(microseconds: number): string {
  if (microseconds >= 1_000) return `${(microseconds / 1_000).toFixed(1)} ms`;
  return `${microseconds.toFixed(microseconds < 10 ? 1 : 0)} µs`;
}
