import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PERMISSION_PATTERNS, PERMISSIONS, permissionsFrom } from "../../src/access/permission.ts";
import { createToken, hashToken, sameHash, tokenId } from "../../src/access/token.ts";
import { decodeTokens, encodeTokens, type TokenEntry } from "../../src/access/token-file.ts";
import { ActuatorError } from "../../src/common/error.ts";
import { parseStrictJson } from "../../src/common/strict-json.ts";
import { errorOf } from "./fixtures.ts";

const hash = `sha256:${"0".repeat(64)}`;
const entry: TokenEntry = { name: "alice", id: "0123456789ab", hash, permissions: ["loggers:*"] };
const bytes = (text: string) => Buffer.from(text);
const file = (...tokens: readonly object[]) => bytes(JSON.stringify({ version: 1, tokens }));

describe("a token", () => {
  test("is random, finds itself, and is known by its hash", () => {
    const made = Array.from({ length: 1_000 }, createToken);
    expect(new Set(made.map(({ token }) => token)).size).toBe(1_000);
    for (const { token, id, hash } of made) {
      expect(token).toMatch(/^ca_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
      expect(tokenId(token)).toBe(id);
      expect(hashToken(token)).toBe(hash);
      expect(hash).not.toContain(token.slice(16));
    }
  });

  test("has the hash that every tool gives", () => {
    expect(hashToken("abc")).toBe("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test.each(["", "ca_", "ca_0123456789ab_", "CA_0123456789ab_x", "x ca_0123456789ab_x", "a.b.c"])(
    "is not %j",
    (text) => {
      expect(tokenId(text)).toBeUndefined();
    },
  );

  test("is all of a text or nothing", () => {
    const { token } = createToken();
    for (const text of [`x${token}`, `${token}x`, `${token}\n`, `${token}=`, token.slice(1), token.slice(0, -1)]) {
      expect(tokenId(text), text).toBeUndefined();
    }
  });

  test("hashes are compared whole", () => {
    expect(sameHash(hash, hash)).toBe(true);
    for (const other of [
      hash.slice(1),
      `${hash}0`,
      hash.replace(/.$/, "1"),
      hash.replace("0", "1"),
      "",
      "ü".repeat(71),
    ]) {
      expect(sameHash(hash, other), other).toBe(false);
    }
  });
});

describe("permissions", () => {
  test("can be given one by one, by subject, or all", () => {
    expect(PERMISSION_PATTERNS).toEqual([...PERMISSIONS, "loggers:*", "sessions:*", "graph:*", "info:*", "*"]);
    expect([...permissionsFrom(["sessions:*"])]).toEqual(["sessions:read", "sessions:list", "sessions:delete"]);
    expect([...permissionsFrom(["*"])]).toEqual(
      PERMISSIONS.filter((each) => !["logs:read", "fleet:join"].includes(each)),
    );
    expect([...permissionsFrom(["loggers:read", "graph:write"])]).toEqual(["loggers:read", "graph:write"]);
  });

  test.each([
    "loggers",
    "loggers:",
    ":*",
    "*:read",
    "**",
    "LOGGERS:*",
    "loggers:read ",
    "__proto__",
    "constructor",
    "toString:*",
  ])("%j gives nothing, and is an error in a file", (pattern) => {
    expect(permissionsFrom([pattern]).size).toBe(0);
    expect(errorOf(() => decodeTokens(file({ ...entry, permissions: [pattern] }))).message).toContain("must be one of");
  });
});

describe("a file of tokens", () => {
  test("is read as it was written", () => {
    const tokens: TokenEntry[] = [
      entry,
      {
        ...entry,
        name: "Bób @ops",
        id: "ba9876543210",
        loggers: ["orders", "audit.log"],
        created: "2026-05-01T12:00:00Z",
        expires: "2027-05-01T12:00:00.5+02:00",
      },
    ];
    expect(decodeTokens(bytes(encodeTokens(tokens)))).toEqual(tokens);
    expect(decodeTokens(bytes(encodeTokens([])))).toEqual([]);
  });

  const cases: readonly [what: string, content: Uint8Array, message: string | RegExp][] = [
    ["nothing", bytes(""), "the token file is not JSON in UTF-8"],
    ["half of it", file(entry).subarray(0, 50), "the token file is not JSON in UTF-8"],
    ["no UTF-8", Buffer.from('{"version":1,"tokens":[],"\xff":1}', "latin1"), "the token file is not JSON in UTF-8"],
    ["null", bytes("null"), /^the token file must be an object/],
    ["a list", bytes("[]"), /^the token file must be an object/],
    ["an empty object", bytes("{}"), "the token file must have version and tokens"],
    ["no tokens", bytes('{"version":1}'), "the token file must have version and tokens"],
    ["a later version", bytes('{"version":2,"tokens":[]}'), /version must be 1/],
    ["a slip of the finger", bytes('{"version":1,"token":[]}'), /did you mean "tokens"\?$/],
    ["tokens that are none", bytes('{"version":1,"tokens":{}}'), /tokens must be a list/],
    ["too many", file(...Array.from({ length: 10_001 }, () => entry)), /at most 10000/],
    ["an entry that is none", file(null as never), /^tokens\[0\] must be an object/],
    [
      "an unknown key",
      file({ ...entry, permission: [] }),
      /^Unknown option "tokens\[0\].permission"; did you mean "permissions"\?$/,
    ],
    [
      "a prototype",
      bytes(`{"version":1,"tokens":[{"__proto__":{"name":"x"}}]}`),
      /Unknown option "tokens\[0\]\.__proto__"/,
    ],
    ["no name", file({ ...entry, name: undefined }), "tokens[0] has no name"],
    ["no id", file({ ...entry, id: undefined }), "tokens[0] has no id"],
    ["no hash", file({ ...entry, hash: undefined }), "tokens[0] has no hash"],
    ["no permissions", file({ ...entry, permissions: undefined }), "tokens[0] has no permissions"],
    ["an empty name", file({ ...entry, name: "" }), /name must be a string of 1 to 128/],
    ["a name that breaks lines", file({ ...entry, name: "a\nb" }), /name must be/],
    ["a name that turns text around", file({ ...entry, name: "a\u202eb" }), /name must be/],
    ["a name with a space at its end", file({ ...entry, name: "a " }), /name must be/],
    ["a name without end", file({ ...entry, name: "a".repeat(129) }), /name must be/],
    ["a secret in place of its hash", file({ ...entry, hash: "s3cret" }), /^tokens\[0\].hash must be "sha256:" and 64/],
    ["a short hash", file({ ...entry, hash: hash.slice(0, -1) }), /hash must be/],
    ["an id that is none", file({ ...entry, id: "x" }), /id must be/],
    ["no list of permissions", file({ ...entry, permissions: "*" }), /permissions must be a list/],
    ["no loggers", file({ ...entry, loggers: [] }), /loggers must not be empty/],
    ["a logger with a dot at its end", file({ ...entry, loggers: ["orders."] }), /loggers entry 0 must be the name/],
    ["a time that is none", file({ ...entry, expires: "tomorrow" }), /expires must be a time/],
    ["a day without a time zone", file({ ...entry, expires: "2027-01-01T00:00:00" }), /expires must be a time/],
    ["a day that is none", file({ ...entry, expires: "2027-13-01T00:00:00Z" }), /expires must be a time/],
    ["a name twice", file(entry, { ...entry, id: "ba9876543210" }), "tokens[1] has the same name as tokens[0]"],
    [
      "permissions twice, of which a reader may see the first alone",
      bytes(JSON.stringify({ version: 1, tokens: [entry] }).replace("]}", '],"p\\u0065rmissions":["*"]}')),
      'the token file has "permissions" twice in one object; keep one',
    ],
    ["tokens twice", bytes('{"version":1,"tokens":[],"tokens":[]}'), /^the token file has "tokens" twice/],
    ["an id twice", file(entry, { ...entry, name: "bob" }), "tokens[1] has the same id as tokens[0]"],
  ];
  test.each(cases)("with %s is an error that says so", (_, content, message) => {
    const error = errorOf(() => decodeTokens(content));
    expect(error.code).toBe("INVALID_ARGUMENT");
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  test("has no name twice by how it is written, whatever is in it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
        const text = JSON.stringify(value, null, wide ? 2 : 0);
        expect(parseStrictJson(bytes(text))).toEqual(JSON.parse(text));
        const twice = `[{"a": {"b": 1}, "c": ${text}, "b" : [{}], "\\u0061": 1}]`;
        expect(() => parseStrictJson(bytes(twice))).toThrow(/^has "a" twice/);
      }),
    );
  });

  test("with several faults is an error on one line, as the command line and logs repeat it", () => {
    expect(errorOf(() => decodeTokens(bytes('{"version":2,"tokens":"x"}'))).message).toBe(
      "the token file.version must be 1, the only supported version; the token file.tokens must be a list of at most 10000 tokens",
    );
    const { hash: _, ...withoutHash } = entry;
    const bad = [{ ...entry, name: "", id: "" }, entry, { ...withoutHash, permissions: ["x", "loggers:read", "y"] }];
    const error = errorOf(() => decodeTokens(file(...(bad as TokenEntry[]))));
    const expected = [
      /^tokens\[0\]\.name must be a string of 1 to 128/,
      /^tokens\[0\]\.id must be the 12 digits/,
      /^tokens\[2\]\.permissions entry 0 must be one of/,
      /^tokens\[2\]\.permissions entry 2 must be one of/,
      /^tokens\[2\] has no hash$/,
      /^tokens\[2\] has the same name as tokens\[1\]$/,
      /^tokens\[2\] has the same id as tokens\[1\]$/,
    ];
    expect(error.faults.map(({ message }) => message)).toEqual(expected.map((each) => expect.stringMatching(each)));
    expect(error.message).toBe(error.faults.map(({ message }) => message).join("; "));
    expect(error.message).not.toContain("\n");
  });

  test("with more faults than fit in a message lists the first 20", () => {
    const many = Array.from({ length: 30 }, () => ({ ...entry, hash: "x" }));
    const { message } = errorOf(() => decodeTokens(file(...many)));
    expect(message.split("; ")).toHaveLength(21);
    expect(message).toMatch(/; and 68 more$/);
  });

  test("whatever stands in it, it is read or refused, and no error repeats a value", () => {
    const secret = "Zq7secretvalue";
    const value = fc.oneof(
      fc.constant(secret),
      fc.jsonValue(),
      fc.constantFrom(hash, "0123456789ab", ["loggers:*"], [secret], { [secret.toLowerCase()]: secret }),
    );
    const token = fc.record(
      { name: value, id: value, hash: value, permissions: value, loggers: value, expires: value, created: value },
      { requiredKeys: [] },
    );
    const content = fc.oneof(
      fc
        .record({ version: fc.constantFrom(1, secret), tokens: fc.oneof(fc.array(token), value) })
        .map((it) => JSON.stringify(it)),
      fc.jsonValue().map((it) => JSON.stringify(it)),
      fc.string().map((text) => `${secret}${text}`),
    );
    fc.assert(
      fc.property(content, (text) => {
        try {
          decodeTokens(bytes(text));
        } catch (error) {
          expect(error).toBeInstanceOf(ActuatorError);
          expect((error as Error).message).not.toContain(secret);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
