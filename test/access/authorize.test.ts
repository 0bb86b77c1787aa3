import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Access } from "../../src/access/access.ts";
import type { Caller } from "../../src/access/caller.ts";
import type { Authorize, CallerDescription } from "../../src/access/options.ts";
import { accessWith, authRequest, bearer, nameOf, outcome } from "./fixtures.ts";

const INVALID = "UNAUTHENTICATED CREDENTIALS_INVALID";
const MISSING = "UNAUTHENTICATED CREDENTIALS_MISSING";
const FAILED = "UNAVAILABLE AUTHORIZE_FAILED";
const TOO_MANY = "RESOURCE_EXHAUSTED TOO_MANY_REQUESTS";

describe("a function of the application", () => {
  test("lets in whom it describes, by whatever the request shows", async () => {
    const { access } = accessWith({
      authorize: ({ header, address }) =>
        header("x-api-key") === "k"
          ? { name: `key at ${address}`, permissions: ["loggers:*"], loggers: ["orders"] }
          : undefined,
    });
    expect(access).toMatchObject({ authenticates: true, challenges: ['Bearer realm="actuator"'] });
    expect(await outcome(access, authRequest({ headers: { "x-api-key": "k" } }), "loggers:read")).toEqual({
      name: "key at 192.0.2.1",
      authentication: "custom",
      permissions: new Set(["loggers:read", "loggers:write"]),
      loggers: ["orders"],
    });
    expect(await nameOf(access, authRequest({ headers: { "x-api-key": "x" } }))).toBe(INVALID);
    expect(await nameOf(access, authRequest())).toBe(MISSING);
  });

  test("may take its time", async () => {
    const { access } = accessWith({ authorize: async () => ({ name: "later", permissions: ["*"] }) });
    expect(await nameOf(access, authRequest())).toBe("later");
  });

  test.each<[what: string, authorize: Authorize, said: RegExp]>([
    [
      "throws",
      () => {
        throw new Error("no database");
      },
      /no database/,
    ],
    ["rejects", () => Promise.reject(new Error("no database")), /no database/],
    [
      "throws something that is no error",
      () => {
        throw undefined;
      },
      /undefined/,
    ],
    ["answers true", () => true as never, /must be an object/],
    ["answers null", () => null as never, /must be an object/],
    ["answers no name", () => ({ permissions: ["*"] }) as never, /name and permissions/],
    ["answers no permissions", () => ({ name: "a" }) as never, /name and permissions/],
    ["answers a permission that is none", () => ({ name: "a", permissions: ["admin"] }) as never, /must be one of/],
    ["answers a name that breaks lines", () => ({ name: "a\nb", permissions: ["*"] }), /printable/],
    [
      "answers a name it does not mean",
      () => ({ name: "a", permission: ["*"] }) as never,
      /did you mean "permissions"/,
    ],
  ])("that %s lets nobody in, and that is told", async (_, authorize, said) => {
    const { access, errors } = accessWith({ authorize });
    expect(await nameOf(access, authRequest())).toBe(FAILED);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^access\.authorize: /);
    expect(errors[0]).toMatch(said);
  });

  test("that never answers lets nobody in after ten seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { access, errors } = accessWith({ authorize: () => new Promise(() => {}) });
      const result = nameOf(access, authRequest());
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await result).toBe(FAILED);
      expect(errors).toEqual(["access.authorize: authorize took more than 10000 ms"]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is not asked by those who guessed too often, as what it compares may be guessed", async () => {
    let asked = 0;
    const { access } = accessWith({
      authorize: ({ authorization }) => {
        asked++;
        return authorization === "Bearer hunter2" ? { name: "fox", permissions: ["*"] } : undefined;
      },
      limits: { maxFailuresPerMinute: 3 },
    });
    const results: string[] = [];
    for (const guess of ["a", "b", "c", "d", "hunter2"]) results.push(await nameOf(access, bearer(guess)));
    expect(results).toEqual([INVALID, INVALID, INVALID, TOO_MANY, TOO_MANY]);
    expect(asked).toBe(3);
    expect(await nameOf(access, bearer("hunter2", "192.0.2.2"))).toBe("fox");
  });

  test("asked by many at once makes them pay for it afterwards", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const answers: (() => void)[] = [];
      const { access } = accessWith({
        authorize: () => new Promise((resolve) => answers.push(() => resolve(undefined))),
        limits: { maxFailuresPerMinute: 3 },
      });
      const guesses = Array.from({ length: 10 }, () => outcome(access, bearer("guess")));
      for (const answer of answers) answer();
      await Promise.all(guesses);
      vi.advanceTimersByTime(2 * 60_000);
      expect(await nameOf(access, bearer("guess"))).toBe(TOO_MANY);
      vi.advanceTimersByTime(2 * 60_000);
      const late = nameOf(access, bearer("guess"));
      answers.at(-1)!();
      expect(await late).toBe(INVALID);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is asked no more at once than can be paid for: five minutes' worth of an address", async () => {
    const answers: (() => void)[] = [];
    const { access } = accessWith({
      authorize: () => new Promise((resolve) => answers.push(() => resolve({ name: "fox", permissions: ["*"] }))),
      limits: { maxFailuresPerMinute: 3 },
    });
    const guesses = Array.from({ length: 100 }, () => nameOf(access, bearer("guess")));
    expect(answers).toHaveLength(15);
    const other = nameOf(access, bearer("guess", "192.0.2.2"));
    for (const answer of answers) answer();
    const results = await Promise.all(guesses);
    expect(results.filter((name) => name === "fox")).toHaveLength(15);
    expect(results.filter((name) => name === TOO_MANY)).toHaveLength(85);
    expect(await other).toBe("fox");
    const next = nameOf(access, bearer("guess"));
    answers.at(-1)!();
    expect(await next).toBe("fox");
  });

  test("is asked by whoever shows nothing without end, such as a probe of the health", async () => {
    const { access } = accessWith({
      authorize: ({ header }) => (header("x-key") === "7" ? { name: "fox", permissions: ["*"] } : undefined),
      limits: { maxFailuresPerMinute: 2 },
    });
    const shown = (key?: string) => nameOf(access, authRequest({ headers: key === undefined ? {} : { "x-key": key } }));
    for (let probe = 0; probe < 5; probe++) expect(await shown()).toBe(MISSING);
    expect(await shown("7")).toBe("fox");
    expect([await shown("1"), await shown("2"), await shown("3"), await shown("7")]).toEqual([
      INVALID,
      INVALID,
      TOO_MANY,
      TOO_MANY,
    ]);
  });

  test("that fails counts as nobody's wrong guess", async () => {
    const { access } = accessWith({
      authorize: () => Promise.reject(new Error("x")),
      limits: { maxFailuresPerMinute: 1 },
    });
    for (let i = 0; i < 3; i++) expect(await nameOf(access, bearer("a"))).toBe(FAILED);
  });
});

describe("somebody whom a function of the application knows, and who stays", () => {
  const description: CallerDescription = { name: "ann", permissions: ["loggers:read"] };
  const known = authRequest({ headers: { "x-api-key": "k" } });
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** Lets time pass as those do who look after open streams: every two seconds. */
  async function stays(access: Access, caller: Caller, seconds: number): Promise<boolean> {
    for (let at = 0; at < seconds; at += 2) {
      if (!access.isStillValid(caller)) return false;
      await vi.advanceTimersByTimeAsync(2_000);
    }
    return access.isStillValid(caller);
  }

  test("is asked about once a minute, with what they showed, and stays for as long as the answer is the same", async () => {
    const seen: unknown[] = [];
    const { access } = accessWith({
      authorize: ({ header }) => {
        seen.push(header("x-api-key"));
        return { ...description, permissions: [...description.permissions] };
      },
    });
    const caller = await access.authenticate(known);
    expect(await stays(access, caller, 600)).toBe(true);
    expect(seen.length).toBeGreaterThanOrEqual(10);
    expect(seen.length).toBeLessThanOrEqual(11);
    expect(new Set(seen)).toEqual(new Set(["k"]));
    expect(access.isStillValid({ ...caller }), "another caller").toBe(false);
  });

  test.each<[what: string, then: CallerDescription | undefined]>([
    ["is known no more", undefined],
    ["may do less", { name: "ann", permissions: [] }],
    ["may do more", { name: "ann", permissions: ["*"] }],
    ["may change fewer loggers", { ...description, loggers: ["orders"] }],
    ["is somebody else", { ...description, name: "bob" }],
  ])("ends within seconds of the answer that they are not: %s", async (_, then) => {
    let answer: CallerDescription | undefined = description;
    const { access, errors } = accessWith({ authorize: () => answer });
    const caller = await access.authenticate(known);
    expect(await stays(access, caller, 58)).toBe(true);
    answer = then;
    expect(await stays(access, caller, 6)).toBe(false);
    answer = description;
    expect(access.isStillValid(caller), "for good").toBe(false);
    expect(errors).toEqual([]);
  });

  test("stays while the function fails, but not for longer than five minutes", async () => {
    let fails = false;
    const { access, errors } = accessWith({
      authorize: () => (fails ? Promise.reject(new Error("no database")) : description),
    });
    const caller = await access.authenticate(known);
    fails = true;
    expect(await stays(access, caller, 240)).toBe(true);
    fails = false;
    expect(await stays(access, caller, 120), "it went well again").toBe(true);
    fails = true;
    expect(await stays(access, caller, 230)).toBe(true);
    expect(await stays(access, caller, 72)).toBe(false);
    expect(new Set(errors)).toEqual(new Set(["access.authorize: no database"]));
    expect(errors.length, "asked every twelve seconds while it fails").toBeLessThan(50);
  });

  test("is not asked about again while the answer is awaited, nor with more than fifteen others at once", async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    let slow = false;
    const { access } = accessWith({
      reauthorizeIntervalMs: 10_000,
      authorize: async () => {
        if (slow) await new Promise<void>((resolve) => (most = Math.max(most, waiting.push(resolve))));
        return description;
      },
    });
    const callers = await Promise.all(Array.from({ length: 100 }, () => access.authenticate(known)));
    slow = true;
    await vi.advanceTimersByTimeAsync(10_000);
    for (let i = 0; i < 3; i++) for (const caller of callers) expect(access.isStillValid(caller)).toBe(true);
    expect(waiting).toHaveLength(16);
    let asked = 0;
    while (waiting.length > 0) {
      asked += waiting.length;
      for (const answer of waiting.splice(0)) answer();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect([most, asked]).toEqual([16, 100]);
  });

  test("is no guess, and stays though others failed too often from the same address", async () => {
    const { access } = accessWith({
      authorize: ({ header }) => (header("x-api-key") === "k" ? description : undefined),
      limits: { maxFailuresPerMinute: 1 },
    });
    const caller = await access.authenticate(known);
    for (let at = 0; at < 400; at += 10) {
      for (let i = 0; i < 20; i++) await nameOf(access, authRequest({ headers: { "x-api-key": "guess" } }));
      expect(await nameOf(access, known)).toBe(TOO_MANY);
      expect(await stays(access, caller, 10)).toBe(true);
    }
  });
});
