import { describe, expect, test } from "vitest";
import { LEVELS, levelFromText, levelVerbosity } from "../../src/loggers/level.ts";

describe("levelFromText", () => {
  const accepted: readonly (readonly [string, string])[] = [
    ...LEVELS.map((level) => [level, level] as const),
    ...LEVELS.map((level) => [level.toLowerCase(), level] as const),
    [" Debug ", "DEBUG"],
    ["d-e_b u g", "DEBUG"],
    ["d.e.b.u.g", "DEBUG"],
    ["false", "OFF"],
    ["False", "OFF"],
  ];
  test.each(accepted)("reads %j as %s", (text, level) => {
    expect(levelFromText(text)).toBe(level);
  });

  const refused = [
    "",
    "  ",
    "ALL",
    "NONE",
    "null",
    "true",
    "debugg",
    "DEBUG1",
    "ＤＥＢＵＧ",
    "débug",
    "ınfo",
    "oﬀ",
    "falſe",
    "\ud800",
    "constructor",
  ];
  test.each(refused)("refuses %j", (text) => {
    expect(levelFromText(text)).toBeUndefined();
  });
});

test("levels are ordered by how much they let through", () => {
  expect(LEVELS.map(levelVerbosity)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
