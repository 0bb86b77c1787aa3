import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { CompactSign, exportJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Access } from "../../src/access/access.ts";
import type { JwtOptions } from "../../src/access/options.ts";
import { accessWith, basic, bearer, errorOf, nameOf, outcome, put, scratch } from "./fixtures.ts";
import { AUDIENCE, ISSUER, jwksServer, signingKey } from "./jwks-server.ts";

const INVALID = "UNAUTHENTICATED CREDENTIALS_INVALID";
const EXPIRED = "UNAUTHENTICATED CREDENTIALS_EXPIRED";
const OUT_OF_REACH = "UNAVAILABLE KEYS_OUT_OF_REACH";
const now = () => Math.floor(Date.now() / 1_000);

const key = await signingKey("first");
const other = await signingKey("second");
const unlimited = { maxFailuresPerMinute: 1_000_000 };

afterEach(() => void vi.useRealTimers());

function keyFile(...keys: readonly object[]): string {
  const path = join(scratch(), "jwks.json");
  put(path, JSON.stringify({ keys }));
  return path;
}

function jwtAccess(options: Partial<JwtOptions> = {}) {
  return accessWith({
    jwt: { jwks: options.jwks ?? keyFile(key.publicJwk), issuer: ISSUER, audience: AUDIENCE, ...options },
    limits: unlimited,
  });
}

describe("a JWT", () => {
  test("that its issuer signed for us lets its subject in with the permissions it names", async () => {
    const { access, errors } = jwtAccess();
    await access.ready();
    expect(access.challenges).toEqual(['Bearer realm="actuator"']);
    expect(
      await outcome(access, bearer(await key.sign({ permissions: ["info:read", "loggers:read", "other"] }))),
    ).toEqual({
      name: "alice",
      authentication: "jwt",
      permissions: new Set(["info:read", "loggers:read"]),
    });
    expect(errors).toEqual([]);
  });

  test.each<[what: string, claims: Record<string, unknown>, result: string]>([
    ["an hour over", { exp: now() - 3_600 }, EXPIRED],
    ["over by less than clocks differ", { exp: now() - 20 }, "alice"],
    ["over by more than clocks differ", { exp: now() - 40 }, EXPIRED],
    ["without an end", { exp: undefined }, INVALID],
    ["with an end that is no number", { exp: "2099" }, INVALID],
    ["not valid yet", { nbf: now() + 40 }, INVALID],
    ["nearly valid", { nbf: now() + 20 }, "alice"],
    ["issued in the future", { iat: now() + 40 }, INVALID],
    ["issued by a clock that is a little ahead", { iat: now() + 20 }, "alice"],
    ["of another issuer", { iss: "https://evil.example" }, INVALID],
    ["of an issuer that begins the same", { iss: `${ISSUER}.evil` }, INVALID],
    ["without an issuer", { iss: undefined }, INVALID],
    ["for somebody else", { aud: "payments" }, INVALID],
    ["for us among others", { aud: ["payments", AUDIENCE] }, "alice"],
    ["for nobody", { aud: undefined }, INVALID],
    ["without a subject", { sub: undefined }, INVALID],
    ["with a subject that breaks lines", { sub: "a\nb" }, INVALID],
    ["with a subject without end", { sub: "a".repeat(200) }, INVALID],
    ["with a subject that is no text", { sub: { toString: "x" } }, INVALID],
    ["without permissions", { permissions: undefined }, "PERMISSION_DENIED PERMISSION_MISSING"],
    [
      "with everything, in a word that may mean something else to its issuer",
      { permissions: ["*"] },
      "PERMISSION_DENIED PERMISSION_MISSING",
    ],
    ["with a scope", { permissions: undefined, scope: "openid info:read" }, "alice"],
    [
      "with no permissions in spite of a scope",
      { permissions: [], scope: "info:read" },
      "PERMISSION_DENIED PERMISSION_MISSING",
    ],
    [
      "with odd permissions",
      { permissions: [["info:read"], 1, null, "__proto__"] },
      "PERMISSION_DENIED PERMISSION_MISSING",
    ],
  ])("%s: %j", async (_, claims, result) => {
    expect(await nameOf(jwtAccess().access, bearer(await key.sign(claims)))).toBe(result);
  });

  test("is refused with a signature of a key that is not the issuer's, or of none, or of its public key", async () => {
    const { access, errors } = jwtAccess();
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: "alice", permissions: ["info:read"], exp: now() + 60 };
    const signed = await key.sign();
    const [header, payload, signature] = signed.split(".");
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: "mallory" })).toString("base64url");
    const publicKey = Buffer.from(JSON.stringify(key.publicJwk));
    const embedded = await exportJWK(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey);
    const wrong = {
      "another key": await other.sign(),
      "another key under the name of ours": await other.sign({}, { kid: "first" }),
      "no signature": new UnsecuredJWT(claims).encode(),
      "no signature, but for show": `${new UnsecuredJWT(claims).encode()}abc`,
      "another payload": [header, forged, signature].join("."),
      "the public key as a secret": await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: "first" })
        .sign(publicKey),
      "a key of its own": await other.sign({}, { kid: "first", jwk: embedded }),
      "a key elsewhere": await other.sign({}, { kid: "first", jku: "https://evil.example/keys" }),
      "an extension that must be understood": await key.sign({}, { crit: ["exp"], exp: 1 }).catch(() => `${signed}x`),
      "no claims": await new CompactSign(Buffer.from("[]")).setProtectedHeader({ alg: "HS256" }).sign(publicKey),
      "half of it": [header, payload, signature!.slice(0, 20)].join("."),
    };
    for (const [what, token] of Object.entries(wrong)) expect(await nameOf(access, bearer(token)), what).toBe(INVALID);
    expect(await nameOf(access, bearer(signed))).toBe("alice");
    expect(await nameOf(access, basic("alice", signed)), "Basic is for tokens").toBe(INVALID);
    expect(errors).toEqual([]);
  });

  test("is taken only with an algorithm and of a type that are let in", async () => {
    const strict = jwtAccess({ algorithms: ["RS256"] }).access;
    expect(await nameOf(strict, bearer(await key.sign()))).toBe(INVALID);
    const typed = jwtAccess({ type: "at+jwt" }).access;
    expect(await nameOf(typed, bearer(await key.sign()))).toBe(INVALID);
    expect(await nameOf(typed, bearer(await key.sign({}, { typ: "JWT" })))).toBe(INVALID);
    expect(await nameOf(typed, bearer(await key.sign({}, { typ: "at+jwt" })))).toBe("alice");
  });

  test.each(["RS256", "PS384", "ES512", "EdDSA", "Ed25519"])("may be signed with %s", async (alg) => {
    const each = await signingKey("k", alg);
    expect(await nameOf(jwtAccess({ jwks: keyFile(each.publicJwk) }).access, bearer(await each.sign()))).toBe("alice");
  });

  test("says by claims of one's own who it is and what they may do", async () => {
    const { access } = jwtAccess({
      claims: { name: "email", permissions: ["realm_access", "roles"], loggers: "https://example.org/loggers" },
      grants: { oncall: ["loggers:*", "info:read"], "info:read": [] },
    });
    const sign = (roles: unknown, rest: Record<string, unknown> = {}) =>
      key.sign({ email: "a@example.org", realm_access: { roles }, "https://example.org/loggers": ["orders"], ...rest });
    expect(await outcome(access, bearer(await sign(["oncall", "constructor", "__proto__"])))).toEqual({
      name: "a@example.org",
      authentication: "jwt",
      permissions: new Set(["loggers:read", "loggers:write", "info:read"]),
      loggers: ["orders"],
    });
    expect(await nameOf(access, bearer(await sign(["info:read"]))), "a role means what grants say").toContain("DENIED");
    const without = await access.authenticate(
      bearer(await sign(["oncall"], { "https://example.org/loggers": undefined })),
    );
    expect(without.loggers, "no claim is no logger, not every logger").toEqual([]);
  });

  test("is held for as long as it has not expired", async () => {
    const { access } = jwtAccess({ clockToleranceMs: 0 });
    vi.useFakeTimers({ toFake: ["Date"] });
    const caller = await access.authenticate(bearer(await key.sign({ exp: now() + 10 })));
    expect(access.isStillValid(caller)).toBe(true);
    vi.setSystemTime(Date.now() + 10_001);
    expect(access.isStillValid(caller)).toBe(false);
    expect(access.isStillValid({ ...caller }), "another caller").toBe(false);
  });

  test("whatever it is made of, is refused without a word of what was in it", async () => {
    const { access, errors } = jwtAccess();
    const part = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."abcXYZ019-_"), minLength: 1, maxLength: 40 }),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
      fc
        .constantFrom("ES256", "none", "HS256", "RS256")
        .map((alg) => Buffer.from(JSON.stringify({ alg, kid: "first", typ: "JWT" })).toString("base64url")),
    );
    await fc.assert(
      fc.asyncProperty(part, part, part, async (...parts) => {
        expect(await nameOf(access, bearer(parts.join(".")))).toBe(INVALID);
      }),
      { numRuns: 500 },
    );
    expect(errors).toEqual([]);
  });
});

describe("keys in a file", () => {
  test.each<[what: string, content: string, said: RegExp]>([
    ["nothing", "", /not JSON/],
    ["no set", '{"kty":"EC"}', /not a key set/],
    ["null", "null", /not a key set/],
    ["keys that are none", '{"keys":[1]}', /not a key set/],
    ["a private key", '{"keys":[{"kty":"EC","d":"x"}]}', /private or symmetric key/],
    ["a secret", '{"keys":[{"kty":"oct","k":"x"}]}', /private or symmetric key/],
    ["too much", `{"keys":[]}${" ".repeat(300_000)}`, /more than 262144 bytes/],
  ])("that hold %s are an error at once", (_, content, said) => {
    const path = join(scratch(), "jwks.json");
    put(path, content);
    const error = errorOf(() => new Access({ jwt: { jwks: path, issuer: "a", audience: "b" } }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_KEY_SET" });
    expect(error.message).toMatch(said);
  });

  test("are read again when a JWT names one that is not among them, but not at will", async () => {
    vi.useFakeTimers({ toFake: ["performance", "setInterval", "setTimeout"] });
    const path = keyFile(key.publicJwk);
    const { access } = jwtAccess({ jwks: path });
    expect(await nameOf(access, bearer(await other.sign()))).toBe(INVALID);
    writeFileSync(path, JSON.stringify({ keys: [other.publicJwk] }));
    expect(await nameOf(access, bearer(await other.sign())), "within a second").toBe(INVALID);
    vi.advanceTimersByTime(1_000);
    expect(await nameOf(access, bearer(await other.sign()))).toBe("alice");
    expect(await nameOf(access, bearer(await key.sign())), "a key that was taken away").toBe(INVALID);
  });

  test("are followed by themselves, too", async () => {
    const path = keyFile(key.publicJwk);
    const { access } = jwtAccess({ jwks: path });
    put(path, JSON.stringify({ keys: [other.publicJwk] }));
    await vi.waitFor(async () => expect(await nameOf(access, bearer(await key.sign()))).toBe(INVALID), {
      timeout: 30_000,
    });
  });

  test("one of which cannot be used are an error of the server, told once, and let nobody in", async () => {
    const { access, errors } = jwtAccess({ jwks: keyFile({ ...key.publicJwk, x: "AAAA" }) });
    for (let i = 0; i < 3; i++)
      expect(await nameOf(access, bearer(await key.sign()))).toMatch(/^(UNAVAILABLE|UNAUTHENTICATED) /);
    expect(errors.length).toBeLessThan(2);
  });
});

describe("keys at an address", () => {
  test("are fetched once for all, and kept", async () => {
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    const tokens = await Promise.all(Array.from({ length: 50 }, () => key.sign()));
    const names = await Promise.all(tokens.map((token) => nameOf(access, bearer(token))));
    expect(new Set(names)).toEqual(new Set(["alice"]));
    expect(server.requests()).toBe(1);
  });

  test("are known when it is ready", async () => {
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    await access.ready();
    expect(server.requests()).toBe(1);
  });

  test("are fetched again for a key that is not known, but not at will", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    server.answer([key.publicJwk, other.publicJwk]);
    for (let i = 0; i < 20; i++)
      expect(await nameOf(access, bearer(await other.sign({}, { kid: `made up ${i}` })))).toBe(INVALID);
    expect(server.requests()).toBe(1);
    expect(await nameOf(access, bearer(await other.sign()))).toBe(INVALID);
    vi.advanceTimersByTime(30_000);
    expect(await nameOf(access, bearer(await other.sign()))).toBe("alice");
    expect(server.requests()).toBe(2);
  });

  test("that were taken away are not believed for longer than ten minutes", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk, other.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    server.answer([other.publicJwk]);
    vi.advanceTimersByTime(10 * 60_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe(INVALID);
  });

  test("are renewed beside the calls that use them, of which none waits", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    const held: ServerResponse[] = [];
    server.answer((_, response) => void held.push(response));
    vi.advanceTimersByTime(5 * 60_000);
    for (let i = 0; i < 5; i++) expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 30_000 });
    held[0]!.end(JSON.stringify({ keys: [other.publicJwk] }));
    await vi.waitFor(async () => expect(await nameOf(access, bearer(await key.sign()))).toBe(INVALID), {
      timeout: 30_000,
    });
    expect(await nameOf(access, bearer(await other.sign()))).toBe("alice");
    expect(server.requests(), "once for all").toBe(2);
  });

  test("are waited for once while their address does not answer, and not by every call after that", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    server.answer((_, response) => void response.destroy());
    vi.advanceTimersByTime(10 * 60_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    const held: ServerResponse[] = [];
    server.answer((_, response) => void held.push(response));
    vi.advanceTimersByTime(5_000);
    for (let i = 0; i < 5; i++) expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    await vi.waitFor(() => expect(held, "asked all the same, and not answered yet").toHaveLength(1), {
      timeout: 30_000,
    });
    vi.advanceTimersByTime(50 * 60_000);
    const late = nameOf(access, bearer(await key.sign()));
    held[0]!.destroy();
    expect(await late, "an hour old").toBe(OUT_OF_REACH);
  });

  test("that are out of reach let nobody in, are told of once, and are asked for again soon", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk]);
    server.answer((_, response) => void response.writeHead(503).end("secret"));
    const { access, errors } = jwtAccess({ jwks: server.url });
    await access.ready();
    for (let i = 0; i < 5; i++) expect(await nameOf(access, bearer(await key.sign()))).toBe(OUT_OF_REACH);
    expect(server.requests(), "no storm").toBe(1);
    expect(errors).toEqual([`access.jwt: the keys at ${server.url} cannot be fetched (the server answered 503)`]);
    server.answer([key.publicJwk]);
    vi.advanceTimersByTime(5_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    server.answer((_, response) => void response.writeHead(500).end());
    vi.advanceTimersByTime(10 * 60_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    expect(errors.slice(1), "it was well in between").toEqual([expect.stringContaining("500")]);
  });

  test("that cannot be fetched again are believed for an hour and no longer", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const server = await jwksServer([key.publicJwk]);
    const { access } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    server.answer((_, response) => void response.destroy());
    vi.advanceTimersByTime(59 * 60_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe("alice");
    vi.advanceTimersByTime(60_000);
    expect(await nameOf(access, bearer(await key.sign()))).toBe(OUT_OF_REACH);
  });

  test("that come from elsewhere, never end, or are none let nobody in", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const elsewhere = await jwksServer([key.publicJwk]);
    const server = await jwksServer([]);
    const { access, errors } = jwtAccess({ jwks: server.url });
    const answers: Parameters<typeof server.answer>[0][] = [
      (_, response) => void response.writeHead(302, { location: elsewhere.url }).end(),
      (_, response) => {
        const pour = (): void => void response.write("x".repeat(65_536), (error) => error ?? pour());
        response.on("error", () => {});
        response.writeHead(200);
        pour();
      },
      (_, response) => void response.end("<html>"),
      (_, response) => void response.end('{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}'),
    ];
    for (const answer of answers) {
      server.answer(answer);
      expect(await nameOf(access, bearer(await key.sign()))).toBe(OUT_OF_REACH);
      vi.advanceTimersByTime(5_000);
    }
    expect(elsewhere.requests()).toBe(0);
    expect(server.requests()).toBe(answers.length);
    expect(errors, "told once until it goes well again").toHaveLength(1);
  });

  test("that never come are waited for no longer than five seconds", async () => {
    const server = await jwksServer([]);
    server.answer(() => {});
    const { access, errors } = jwtAccess({ jwks: server.url });
    expect(await nameOf(access, bearer(await key.sign()))).toBe(OUT_OF_REACH);
    expect(errors).toHaveLength(1);
  });
});
