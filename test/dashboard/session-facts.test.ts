import { expect, test } from "vitest";
import { tokenCommand } from "../../src/dashboard/components/token-command.ts";
import {
  abilitiesOf,
  expiryOf,
  intervalWords,
  isNewestFirst,
  newestOf,
  shortId,
} from "../../src/dashboard/sessions/session-facts.ts";
import type { Session } from "../../src/gen/actuator/v3/sessions_pb.ts";

const NOW = 1_800_000_000_000;

function session(fields: { accessed?: number; seconds?: number; expired?: boolean; id?: string }): Session {
  const { accessed, seconds, expired = false, id = "a" } = fields;
  return {
    id,
    expired,
    ...(accessed !== undefined && { lastAccessedTime: { seconds: BigInt(accessed / 1_000), nanos: 0 } }),
    ...(seconds !== undefined && { maxInactiveInterval: { seconds: BigInt(seconds), nanos: 0 } }),
  } as Session;
}

test("a session ends its interval after the last access, never, or at a time that is not known", () => {
  expect(expiryOf(session({ accessed: NOW - 45_000, seconds: 60 }), NOW)).toEqual({
    kind: "at",
    ms: NOW + 15_000,
    part: 0.25,
  });
  expect(expiryOf(session({ accessed: NOW, seconds: -1 }), NOW).kind).toBe("never");
  expect(expiryOf(session({ accessed: NOW }), NOW).kind).toBe("unknown");
  expect(expiryOf(session({ seconds: 60 }), NOW).kind).toBe("unknown");
  expect(expiryOf(session({ accessed: NOW, seconds: 60, expired: true }), NOW).kind).toBe("expired");
  expect(expiryOf(session({ accessed: NOW - 1_000, seconds: 0 }), NOW)).toMatchObject({ part: 0 });
});

test("newest access first is said only of sessions that are in that order", () => {
  const at = (...ages: (number | undefined)[]) =>
    ages.map((age) => session(age === undefined ? {} : { accessed: NOW - age * 1_000 }));
  expect(isNewestFirst(at(0, 5, undefined, 90))).toBe(true);
  expect(isNewestFirst(at(0, 90, 5))).toBe(false);
  expect(isNewestFirst(at(0))).toBe(false);
  expect(isNewestFirst(at(undefined, undefined))).toBe(false);
});

test("the newest session is one that has not expired", () => {
  expect(newestOf([session({ id: "a", expired: true }), session({ id: "b" })])?.id).toBe("b");
  expect(newestOf([session({ expired: true })])).toBeUndefined();
});

test("ids are shortened", () => {
  expect(shortId("a7e6eaf3-97d3-5826-a76c-4b2f2929ec52")).toBe("a7e6eaf3…");
  expect(shortId("short")).toBe("short");
});

test("intervals are exact", () => {
  expect([3_600n, 5_400n, 90n, 86_400n, 0n].map(intervalWords)).toEqual(["1 h", "90 min", "90 s", "1 d", "0 s"]);
});

test("what a store cannot do has the server's reason", () => {
  const abilities = abilitiesOf({ limits: { list: "Redis has no index." } });
  expect(abilities.filter(({ can }) => !can)).toEqual([{ can: false, text: "List all: Redis has no index." }]);
  expect(abilities).toHaveLength(5);
});

test("the command for a missing permission keeps what the caller may do and can be pasted", () => {
  const permissions = ["loggers:read", "loggers:write", "graph:read"];
  const authentication = "token";
  expect(tokenCommand({ name: "alice", authentication, permissions, loggers: ["shop.orders"] }, "sessions:list")).toBe(
    "npx connect-actuator token create --name alice-2 --permission 'loggers:*' graph:read sessions:list --loggers shop.orders --file tokens.json",
  );
  expect(
    tokenCommand({ name: "o'brien; rm", authentication, permissions: [], loggers: [] }, "sessions:list"),
  ).toContain("--name 'o'\\''brien; rm-2' --permission sessions:list");
  const anonymous = { name: "127.0.0.1", authentication: "none", permissions: [], loggers: [] };
  expect(tokenCommand(anonymous, "sessions:list")).toContain("--name operator --permission sessions:list");
});
