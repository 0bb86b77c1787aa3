import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { Access } from "../../src/access/access.ts";
import { PERMISSIONS, type Permission, permissionsFrom } from "../../src/access/permission.ts";
import { createToken } from "../../src/access/token.ts";
import { ActuatorError } from "../../src/common/error.ts";
import {
  accessWith,
  admit,
  authRequest,
  basic,
  bearer,
  errorOf,
  nameOf,
  outcome,
  tokenFile,
  tokenOf,
} from "./fixtures.ts";

const INVALID = "UNAUTHENTICATED CREDENTIALS_INVALID";
const MISSING = "UNAUTHENTICATED CREDENTIALS_MISSING";
const TOO_MANY = "RESOURCE_EXHAUSTED TOO_MANY_REQUESTS";

describe("without any mechanism", () => {
  test("nobody is asked, everybody may do everything, and is called by their address", async () => {
    const { access } = accessWith({});
    expect(access).toMatchObject({ authenticates: false, challenges: [] });
    for (const permission of permissionsFrom(["*"])) {
      expect(await outcome(access, authRequest(), permission)).toMatchObject({
        name: "192.0.2.1",
        authentication: "none",
      });
    }
    expect(await nameOf(access, authRequest({ address: undefined }))).toBe("local");
  });

  test("credentials that nobody asked for harm nobody", async () => {
    const { access } = accessWith({});
    expect(await nameOf(access, authRequest({ authorization: "Bearer whatever" }))).toBe("192.0.2.1");
  });

  test("`anonymous` says what may be done all the same, and nobody is counted", async () => {
    const { access } = accessWith({ anonymous: ["loggers:*"] });
    // Nobody could say who they are.
    expect(await nameOf(access, authRequest(), "sessions:list")).toBe("PERMISSION_DENIED PERMISSION_MISSING");
    for (let i = 0; i < 1_000; i++) admit(access, authRequest(), "loggers:write");
  });
});

describe("a token", () => {
  test("lets its owner in, at once, as Bearer and as the password of Basic with any user", async () => {
    const { token, entry } = tokenOf("alice", { permissions: ["loggers:*"], loggers: ["orders"] });
    const { access } = accessWith({ tokens: tokenFile(entry) });
    expect(access.challenges).toEqual(['Bearer realm="actuator"', 'Basic realm="actuator", charset="UTF-8"']);
    const caller = {
      name: "alice",
      authentication: "token",
      permissions: new Set(["loggers:read", "loggers:write"]),
      loggers: ["orders"],
    };
    expect(admit(access, bearer(token), "loggers:read")).toEqual(caller);
    for (const user of ["alice", "bob", ""]) expect(admit(access, basic(user, token), "loggers:write")).toEqual(caller);
  });

  test.each<[allowed: Permission[], asked: Permission, result: string]>([
    [["loggers:read"], "loggers:read", "alice"],
    [["loggers:read"], "loggers:write", "PERMISSION_DENIED PERMISSION_MISSING"],
    [["sessions:read"], "sessions:list", "PERMISSION_DENIED PERMISSION_MISSING"],
    [[], "info:read", "PERMISSION_DENIED PERMISSION_MISSING"],
  ])("with %j asked for %s: %s", async (permissions, asked, result) => {
    const { token, entry } = tokenOf("alice", { permissions });
    expect(await nameOf(accessWith({ tokens: tokenFile(entry) }).access, bearer(token), asked)).toBe(result);
  });

  test("is let in until the moment it expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-05-01T11:59:59.999Z") });
    try {
      const { token, entry } = tokenOf("alice", { expires: "2026-05-01T12:00:00Z" });
      const { access } = accessWith({ tokens: tokenFile(entry) });
      const caller = await admit(access, bearer(token), "info:read");
      expect([caller.name, access.isStillValid(caller)]).toEqual(["alice", true]);
      vi.setSystemTime(Date.parse("2026-05-01T12:00:00Z"));
      expect(await nameOf(access, bearer(token))).toBe("UNAUTHENTICATED CREDENTIALS_EXPIRED");
      expect(access.isStillValid(caller)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  test("does not let in who knows only its digits, its hash, or the half of it", async () => {
    const { token, entry } = tokenOf("alice");
    const { access } = accessWith({ tokens: tokenFile(entry), limits: { maxFailuresPerMinute: 100 } });
    const other = createToken().token;
    const wrong = [
      `ca_${entry.id}_${other.slice(16)}`,
      other,
      entry.hash,
      entry.hash.slice(7),
      token.slice(0, -1),
      `${token}A`,
      token.toUpperCase(),
      "",
    ];
    for (const text of wrong) {
      expect(await nameOf(access, bearer(text)), text).toBe(INVALID);
      expect(await nameOf(access, basic("alice", text)), text).toBe(INVALID);
    }
    // Its owner makes no mistake, as the test would not tell otherwise.
    expect(await nameOf(access, bearer(token))).toBe("alice");
  });

  test("is no password where Basic is off", async () => {
    const { token, entry } = tokenOf("alice");
    const { access } = accessWith({ tokens: tokenFile(entry), basic: false });
    expect(access.challenges).toEqual(['Bearer realm="actuator"']);
    expect(await nameOf(access, basic("alice", token))).toBe(INVALID);
    expect(await nameOf(access, bearer(token))).toBe("alice");
  });
});

describe("somebody who shows nothing", () => {
  test("may do nothing where anybody is asked, and is told to say who they are", async () => {
    const { access } = accessWith({ tokens: tokenFile() });
    for (const permission of PERMISSIONS) expect(await nameOf(access, authRequest(), permission)).toBe(MISSING);
  });

  test("may do what `anonymous` says, and is asked for the rest", async () => {
    const { access } = accessWith({ tokens: tokenFile(), anonymous: ["info:read"] });
    expect(await outcome(access, authRequest())).toMatchObject({ name: "192.0.2.1", authentication: "none" });
    expect(await nameOf(access, authRequest(), "loggers:read")).toBe(MISSING);
  });

  test("is not who shows something wrong: that falls back to nothing", async () => {
    const { access } = accessWith({
      tokens: tokenFile(),
      certificates: [{ commonName: "orders", permissions: ["*"] }],
      anonymous: ["*"],
    });
    const certificate = { commonName: "x", alternativeNames: [], fingerprint256: "" };
    const shown = [
      bearer(createToken().token),
      bearer("x"),
      bearer("a.b.c"),
      authRequest({ authorization: "" }),
      authRequest({ authorization: "Negotiate abc" }),
      authRequest({ certificate }),
    ];
    for (const request of shown) expect(await nameOf(access, request)).toBe(INVALID);
    expect(await nameOf(access, authRequest())).toBe("192.0.2.1");
  });
});

describe("several mechanisms", () => {
  test("a wrong token is not saved by a good certificate, nor is the application asked", async () => {
    const authorize = vi.fn(() => ({ name: "app", permissions: ["*" as const] }));
    const { token, entry } = tokenOf("alice");
    const { access } = accessWith({
      tokens: tokenFile(entry),
      certificates: [{ commonName: "orders", permissions: ["*"] }],
      authorize,
    });
    const certificate = { commonName: "orders", alternativeNames: [], fingerprint256: "" };
    expect(await nameOf(access, { ...bearer(createToken().token), certificate })).toBe(INVALID);
    expect(await nameOf(access, { ...bearer(token), certificate })).toBe("alice");
    expect(await nameOf(access, authRequest({ certificate }))).toBe("orders");
    expect(await nameOf(access, authRequest({ certificate: { ...certificate, commonName: "x" } }))).toBe(INVALID);
    expect(authorize).not.toHaveBeenCalled();
    expect(await nameOf(access, authRequest({ authorization: "ApiKey 12" }))).toBe("app");
    expect(await nameOf(access, authRequest())).toBe("app");
  });

  test.each([
    ["tokens", { tokens: "file" }, ['Bearer realm="actuator"', 'Basic realm="actuator", charset="UTF-8"']],
    ["certificates", { certificates: [{ commonName: "a", permissions: [] }] }, ['ClientCertificate realm="actuator"']],
    ["authorize", { authorize: () => undefined }, ['Bearer realm="actuator"']],
  ])("the challenges of %s are of schemes that are taken", (_, options, challenges) => {
    const tokens = "tokens" in options ? { tokens: tokenFile() } : {};
    expect(accessWith({ ...options, ...tokens }).access).toMatchObject({ authenticates: true, challenges });
  });
});

describe("too many wrong credentials", () => {
  test("from one address are told to wait, and no others are; a valid token is let in from there all the same", async () => {
    const { token, entry } = tokenOf("alice");
    const { access } = accessWith({ tokens: tokenFile(entry), limits: { maxFailuresPerMinute: 3 } });
    const wrong = createToken().token;
    const results: string[] = [];
    for (let i = 0; i < 5; i++) results.push(await nameOf(access, bearer(wrong)));
    expect(results).toEqual([INVALID, INVALID, INVALID, TOO_MANY, TOO_MANY]);
    expect(await nameOf(access, bearer(wrong, "192.0.2.2"))).toBe(INVALID);
    expect(await nameOf(access, bearer(token))).toBe("alice");
    expect(await nameOf(access, authRequest())).toBe(MISSING);
    const error = errorOf(() => admit(access, bearer(wrong), "info:read"));
    expect(Number(error.metadata.retryAfterSeconds)).toBeGreaterThan(0);
    expect(error.message).toContain(`${error.metadata.retryAfterSeconds} s`);
  });

  test("are those of a whole IPv6 network of one site", async () => {
    const { access } = accessWith({ tokens: tokenFile(), limits: { maxFailuresPerMinute: 1 } });
    const wrong = createToken().token;
    expect(await nameOf(access, bearer(wrong, "2001:db8::1"))).toBe(INVALID);
    expect(await nameOf(access, bearer(wrong, "2001:db8:0:0:ffff::2"))).toBe(TOO_MANY);
    expect(await nameOf(access, bearer(wrong, "2001:db8:0:1::1"))).toBe(INVALID);
  });

  test("from all the networks of one customer count together, sixteen times as many", async () => {
    const { access } = accessWith({ authorize: () => undefined, limits: { maxFailuresPerMinute: 2 } });
    const guess = (address: string) => nameOf(access, bearer("guess", address));
    for (let network = 0; network < 32; network++) {
      expect(await guess(`2001:db8:1:${network.toString(16)}::1`)).toBe(INVALID);
    }
    expect(await guess("2001:db8:1:ffff::1"), "a network that was never wrong").toBe(TOO_MANY);
    expect(await guess("2001:db8:2::1"), "another customer").toBe(INVALID);
  });

  test("are forgotten with time", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { access } = accessWith({ tokens: tokenFile(), limits: { maxFailuresPerMinute: 1 } });
      const wrong = createToken().token;
      expect(await nameOf(access, bearer(wrong))).toBe(INVALID);
      expect(await nameOf(access, bearer(wrong))).toBe(TOO_MANY);
      const { metadata } = errorOf(() => admit(access, bearer(wrong), "info:read"));
      vi.advanceTimersByTime(Number(metadata.retryAfterSeconds) * 1_000 - 1_001);
      expect(errorOf(() => admit(access, bearer(wrong), "info:read")).reason).toBe("TOO_MANY_REQUESTS");
      vi.advanceTimersByTime(10 * 60_000);
      expect(await nameOf(access, bearer(wrong))).toBe(INVALID);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("too many writes", () => {
  test("of one caller are told to wait; reads, other permissions and other callers are not", async () => {
    const [alice, bob] = [tokenOf("alice"), tokenOf("bob")];
    const { access } = accessWith({ tokens: tokenFile(alice.entry, bob.entry), limits: { maxWritesPerMinute: 2 } });
    const write = (who: { token: string }, permission: Permission = "loggers:write") =>
      nameOf(access, bearer(who.token), permission);
    expect([await write(alice), await write(alice), await write(alice)]).toEqual(["alice", "alice", TOO_MANY]);
    expect(await write(bob)).toBe("bob");
    expect(await write(alice, "loggers:read")).toBe("alice");
    expect(await write(alice, "sessions:delete")).toBe("alice");
    for (let i = 0; i < 20; i++) expect(await write(alice, "graph:write"), `span ${i}`).toBe("alice");
    expect(await write(alice, "graph:write")).toBe(TOO_MANY);
  });

  test("are 300 a minute unless it is said otherwise, all of which may come at once", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { token, entry } = tokenOf("alice");
      const { access } = accessWith({ tokens: tokenFile(entry) });
      const writesNow = (): number => {
        let count = 0;
        while (count < 1_000 && canWrite()) count++;
        return count;
      };
      const canWrite = () => {
        try {
          return admit(access, bearer(token), "sessions:delete") !== undefined;
        } catch {
          return false;
        }
      };
      expect(writesNow()).toBe(300);
      vi.advanceTimersByTime(60_000 / 300);
      expect(writesNow()).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test("of somebody without a name are those of their whole network", async () => {
    const { access } = accessWith({ tokens: tokenFile(), anonymous: ["*"], limits: { maxWritesPerMinute: 1 } });
    const write = (address: string) => nameOf(access, authRequest({ address }), "loggers:write");
    expect(await write("2001:db8::1")).toBe("2001:db8::1");
    expect(await write("2001:db8::2")).toBe(TOO_MANY);
    expect(await write("2001:db9::2")).toBe("2001:db9::2");
  });

  test("that were not allowed are not counted", async () => {
    const { token, entry } = tokenOf("alice", { permissions: ["loggers:read"] });
    const { access } = accessWith({ tokens: tokenFile(entry), limits: { maxWritesPerMinute: 1 } });
    for (let i = 0; i < 3; i++) {
      expect(await nameOf(access, bearer(token), "loggers:write")).toBe("PERMISSION_DENIED PERMISSION_MISSING");
    }
  });
});

test("whatever somebody shows, they are refused in our own words", async () => {
  const { token, entry } = tokenOf("alice");
  const { access, errors } = accessWith({
    tokens: tokenFile(entry),
    jwt: { jwks: "http://127.0.0.1:1/keys", issuer: "a", audience: "b" },
    certificates: [{ commonName: "a", permissions: ["*"] }],
    limits: { maxFailuresPerMinute: 3 },
  });
  const word = fc.oneof(
    fc.string({ minLength: 4 }),
    fc.string({ unit: "binary", minLength: 4 }),
    fc.base64String({ minLength: 4 }),
  );
  const value = fc.oneof(
    word,
    word.map((it) => `Bearer ${it}`),
    word.map((it) => `Basic ${Buffer.from(it).toString("base64")}`),
    fc.nat(token.length - 1).map((at) => `Bearer ${token.slice(0, at)}!${token.slice(at + 1)}`),
    fc.nat(token.length - 1).map((at) => `Bearer ${token.slice(0, at)}`),
    fc.nat(token.length - 1).map((at) => `Basic ${Buffer.from(`alice:${token.slice(at + 1)}`).toString("base64")}`),
  );
  await fc.assert(
    fc.asyncProperty(value, word, async (authorization, commonName) => {
      const certificate = { commonName, alternativeNames: [commonName], fingerprint256: commonName };
      for (const request of [authRequest({ authorization, certificate }), authRequest({ certificate })]) {
        const error = await (async () => admit(access, request, "info:read"))().catch(
          (error: unknown) => error as Error,
        );
        expect(error).toBeInstanceOf(ActuatorError);
        expect(WORDS).toContain((error as Error).message.replace(/\d+ s\.$/, "… s."));
      }
    }),
    { numRuns: 1_000 },
  );
  expect(errors).toEqual([]);
});

const WORDS = [
  "The server does not accept credentials of this form.",
  "The token is unknown.",
  "The JWT is not valid here.",
  "No rule of this server matches the client certificate.",
  "Too many failed authentications from this address. Try again in … s.",
];

test("who somebody is can be asked before what they may do, so that it is known who was refused", async () => {
  const { token, entry } = tokenOf("alice", { permissions: [] });
  const { access } = accessWith({ tokens: tokenFile(entry) });
  const caller = await access.authenticate(bearer(token));
  expect(caller.name).toBe("alice");
  expect(errorOf(() => access.authorize(caller, "info:read")).code).toBe("PERMISSION_DENIED");
  const anonymous = await access.authenticate(authRequest());
  expect(errorOf(() => access.authorize(anonymous, "info:read")).code).toBe("UNAUTHENTICATED");
});

test("a file that is not there is an error at once, and so is one with a fault", () => {
  expect(errorOf(() => new Access({ tokens: "/nowhere/tokens.json" })).message).toContain("ENOENT");
  const fault = errorOf(() => new Access({ tokens: import.meta.filename }));
  expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_TOKEN_FILE" });
});
