import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  attributeNames,
  expiryTime,
  maxAge,
  maxInactiveInterval,
  parseRecord,
} from "../../../../src/adapters/kit/connect-session/record.ts";
import { NewestSessions, scanSessions } from "../../../../src/adapters/kit/connect-session/scan.ts";

describe("a record", () => {
  it.each([
    [{ cookie: { expires: "2026-01-02T03:04:05.678Z", originalMaxAge: 1500 } }, 1767323045678, 1500, 2],
    [{ cookie: { expires: new Date(5), originalMaxAge: 0 } }, 5, 0, 0],
    [{ cookie: { expires: null, originalMaxAge: null } }, undefined, undefined, -1],
    [{ cookie: { expires: "soon", originalMaxAge: "long" } }, undefined, undefined, -1],
    [{ cookie: { expires: false, originalMaxAge: Number.NaN } }, undefined, undefined, -1],
    [{ cookie: null }, undefined, undefined, -1],
    [{ cookie: "c" }, undefined, undefined, -1],
    [{}, undefined, undefined, -1],
  ])("%j", (record, expires, age, interval) => {
    expect([expiryTime(record), maxAge(record), maxInactiveInterval(maxAge(record))]).toEqual([expires, age, interval]);
  });

  it("shows the names of the application's attributes alone", () => {
    const record = JSON.parse('{"cookie":{},"user":{"name":"x"},"__lastAccess":1,"__proto__":2}');
    expect(attributeNames(record)).toEqual(["user", "__lastAccess", "__proto__"]);
    expect(attributeNames(record, ["cookie", "__lastAccess"])).toEqual(["user", "__proto__"]);
  });

  it.each(["", "{", "null", "[]", "1", '"text"', undefined, null, 1, [], Buffer.from("{")])("is not %j", (stored) => {
    expect(parseRecord(stored)).toBeUndefined();
  });

  it("is JSON text, its bytes, or parsed already", () => {
    for (const stored of ['{"a":"ü"}', Buffer.from('{"a":"ü"}'), { a: "ü" }]) {
      expect(parseRecord(stored)).toEqual({ a: "ü" });
    }
  });
});

describe("pages of sessions", () => {
  const sessions = fc.uniqueArray(
    fc.record({ id: fc.string({ minLength: 1 }), time: fc.integer({ min: -2, max: 5 }) }),
    {
      selector: ({ id }) => id,
      maxLength: 60,
    },
  );

  it("make the whole list, each session once, whatever the page's size", () => {
    fc.assert(
      fc.property(sessions, fc.integer({ min: 1, max: 9 }), (all, limit) => {
        const ids: string[] = [];
        let after: string | undefined;
        for (let page = 0; page <= all.length; page++) {
          const newest = new NewestSessions(limit, after);
          for (const session of all) newest.offer({ ...session, record: {} });
          const first = newest.first();
          expect(first.sessions.length).toBeLessThanOrEqual(limit);
          ids.push(...first.sessions.map(({ id }) => id));
          after = first.next;
          if (after === undefined) break;
        }
        const ordered = all.toSorted((a, b) => b.time - a.time || (a.id < b.id ? -1 : 1));
        expect(ids).toEqual(ordered.map(({ id }) => id));
      }),
    );
  });
});

describe("a scan", () => {
  const entries = Array.from({ length: 100 }, (_, index) => [`${index}`, {}] as const);

  it.each([
    [{}, 100, false],
    [{ maxSessions: 100 }, 100, false],
    [{ maxSessions: 99 }, 99, true],
    [{ maxMs: 0 }, 1, true],
  ])("with the bounds %j visits %i and says %s", async (bounds, count, partial) => {
    const visited: string[] = [];
    expect(await scanSessions(entries, bounds, (id) => visited.push(id))).toBe(partial);
    expect(visited).toHaveLength(count);
  });
});
