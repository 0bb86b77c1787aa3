import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MemorySessionStore, memorySessions } from "../../src/sessions/memory-store.ts";
import type { SessionQuery } from "../../src/sessions/store.ts";

const START = Date.parse("2026-01-02T03:04:05.678Z");

type Step =
  | { readonly do: "put" | "touch" | "delete"; readonly id: number }
  | { readonly do: "import"; readonly id: number; readonly age: number }
  | { readonly do: "wait"; readonly ms: number };

const id = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("put", "touch", "delete"), id }),
  fc.record({ do: fc.constant("import"), id, age: fc.integer({ min: -3, max: 5 }) }),
  fc.record({ do: fc.constant("wait"), ms: fc.integer({ min: -2, max: 3 }) }),
);

/** A store, its clock, and how a step is taken. Sessions live for 6 ms and are kept for 4 more. */
function life() {
  let now = START;
  const store = memorySessions({ clock: () => now, expiredRetentionMs: 4 });
  const take = async (step: Step): Promise<void> => {
    if (step.do === "wait") now += step.ms;
    else if (step.do === "touch") store.touch(`id${step.id}`);
    else if (step.do === "delete") await store.delete(`id${step.id}`);
    else
      store.put({
        id: `id${step.id}`,
        username: `user${step.id % 3}`,
        ...(step.do === "import" && { lastAccessedTime: now - step.age }),
      });
  };
  return { store, take };
}

async function pageThrough(store: MemorySessionStore, query: SessionQuery, between = async () => {}) {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ ...query, after });
    expect(page.sessions.length).toBeLessThanOrEqual(query.limit);
    ids.push(...page.sessions.map(({ id }) => id));
    after = page.next;
    if (after !== undefined) await between();
  } while (after !== undefined);
  return ids;
}

describe("the list of all", () => {
  it("has every session once, newest access first, then by id, whatever happened before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), async (steps, limit) => {
        const { store, take } = life();
        for (const step of steps) await take(step);
        const kept = [];
        for (let index = 0; index <= 30; index++) kept.push((await store.findById(`id${index}`)) ?? []);
        const sessions = kept.flat();
        sessions.sort((a, b) => b.lastAccessedTime! - a.lastAccessedTime! || (a.id < b.id ? -1 : 1));
        expect(await pageThrough(store, { limit })).toEqual(sessions.map(({ id }) => id));
        expect(await store.count({})).toBe(sessions.length);
        for (const user of ["user0", "user1", "user2"]) {
          const found = (await store.findByUsername(user)).sessions.map(({ id }) => id);
          const theirs = sessions.filter(({ username }) => username === user).map(({ id }) => id);
          expect(found.sort()).toEqual(theirs.sort());
        }
      }),
      { numRuns: 300 },
    );
  });

  it("neither loses nor repeats a session that is left alone between its pages", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.array(fc.record({ do: fc.constantFrom("put", "touch", "delete"), id }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        async (before, meanwhile, limit) => {
          const { store, take } = life();
          for (const step of before) await take(step);
          const busy = new Set(meanwhile.map(({ id }) => `id${id}`));
          const quiet = (ids: readonly string[]) => ids.filter((id) => !busy.has(id));
          const expected = quiet(await pageThrough(store, { limit: 1000 }));
          // Time goes on, as it does, so that what is used moves to the front.
          const steps = [...meanwhile];
          await take({ do: "wait", ms: 4 });
          const alive = quiet(await pageThrough(store, { limit: 1000 }));
          const listed = await pageThrough(store, { limit }, async () => {
            for (const step of steps.splice(0, 3)) await take(step);
          });
          expect(quiet(listed)).toEqual(alive);
          expect(expected).toEqual(expect.arrayContaining(alive));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    [undefined, ["live", "over"]],
    [true, ["live"]],
    [false, ["over"]],
  ] as const)("with active %s has %j", async (active, ids) => {
    let now = START;
    const store = memorySessions({ clock: () => now });
    store.put({ id: "over", maxInactiveInterval: 1 });
    store.put({ id: "gone", maxInactiveInterval: 1, lastAccessedTime: START - 300_000 });
    now += 1000;
    store.put({ id: "live" });
    expect(await pageThrough(store, { limit: 1, active })).toEqual(ids);
    expect(await store.count({ active })).toBe(ids.length);
  });

  it("continues where the page ended although the last session was given an older time", async () => {
    const store = memorySessions({ clock: () => START });
    for (const [age, id] of ["a", "b", "c", "d"].entries()) store.put({ id, lastAccessedTime: START - age });
    const { next: after } = await store.list({ limit: 2 });
    store.put({ id: "b", lastAccessedTime: START - 9 });
    expect((await store.list({ limit: 9, after })).sessions.map(({ id }) => id)).toEqual(["c", "d", "b"]);
  });

  it("continues where the page ended although the last session is gone", async () => {
    const store = memorySessions({ clock: () => START });
    for (const id of ["a", "b", "c", "d"]) store.put({ id });
    const { next: after } = await store.list({ limit: 2 });
    await store.delete("b");
    expect((await store.list({ limit: 2, after })).sessions.map(({ id }) => id)).toEqual(["c", "d"]);
  });
});
