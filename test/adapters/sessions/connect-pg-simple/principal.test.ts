import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ASK_THE_RESOLVER,
  DIGEST_EXPRESSION,
  INDEXED_CHARACTERS,
  principalExpression,
} from "../../../../src/adapters/sessions/connect-pg-simple/record-sql.ts";
import { DEFAULT_PRINCIPAL, type PrincipalPaths, principalResolver } from "../../../../src/sessions/principal.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";

describe.runIf(requirement("postgresql", postgresFound))("expressions of the indexes", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  /** What an index would hold for these records, in their order. */
  async function indexed(
    texts: readonly string[],
    paths: PrincipalPaths,
    type: "json" | "jsonb",
  ): Promise<(string | null)[]> {
    const expression = principalExpression(paths, { type, utf8: true });
    const rows = await server.query(
      `SELECT ${expression} AS name FROM (SELECT text::${type} AS sess, at FROM unnest($1::text[]) WITH ORDINALITY AS texts (text, at)) AS t ORDER BY at`,
      [texts],
    );
    return rows.map(({ name }) => name);
  }

  /** The name as the index is to hold it. */
  function expected(text: string, paths: PrincipalPaths): string | null {
    const name = principalResolver(paths)(JSON.parse(text));
    return name === undefined ? null : [...name].slice(0, INDEXED_CHARACTERS).join("");
  }

  /** An escape that PostgreSQL cannot take, or a number that may be written in more than one way. */
  function mayAsk(text: string, name: string | null): boolean {
    return /\\u(0000|d[89a-f])/.test(text) || /^-?[\d.e+-]+$/.test(name ?? "");
  }

  const users = ["ann", "", 7, 0, -12, 1.5, 1e21, 2 ** 53, true, false, null, [], ["ann"], {}, { user: "ann" }];
  const records: readonly unknown[] = [
    ...users.map((user) => ({ passport: { user }, userId: "fallback" })),
    ...users.map((user) => ({ user, username: "fallback" })),
    ...users.map((username) => ({ user: { username, email: "a@b" } })),
    ...users.map((id) => ({ passport: { user: { id } }, userId: "fallback" })),
    { passport: { user: { id: 7, username: "u", email: "a@b" } } },
    { passport: { user: { id: 7, username: [], email: "a@b" } } },
    { user: { name: "n" }, passport: {} },
    { user: { username: { deep: 1 } }, userId: 3 },
    { passport: "text", user: ["x"] },
    { username: 'quote " and \\ and é and 😀' },
    { username: "é😀".repeat(200) },
    "text",
    ["passport"],
    null,
    3,
  ];

  it.each(["json", "jsonb"] as const)("agree with the resolver about %s", async (type) => {
    const texts = records.map((record) => JSON.stringify(record));
    const names = await indexed(texts, DEFAULT_PRINCIPAL, type);
    const asked = names.filter((name) => name === ASK_THE_RESOLVER);
    expect(asked).toHaveLength(12);
    for (const [at, text] of texts.entries()) {
      const name = expected(text, DEFAULT_PRINCIPAL);
      const right = names[at] === ASK_THE_RESOLVER && mayAsk(text, name) ? ASK_THE_RESOLVER : name;
      expect([text, names[at]]).toEqual([text, right]);
    }
  });

  it.each([
    ["1.0", "1"],
    ["1e3", "1000"],
    ["-0", "0"],
    ["100000000000000000000001", "1.0000000000000001e+23"],
    ["1e999", "Infinity"],
  ])("leave the number %s to the resolver", async (number, name) => {
    const text = `{"username":${number}}`;
    expect(expected(text, DEFAULT_PRINCIPAL)).toBe(name);
    expect(await indexed([text], DEFAULT_PRINCIPAL, "json")).toEqual([ASK_THE_RESOLVER]);
  });

  it.each([
    ["U+0000 in a value", '{"username":"ann","a":"\\u0000"}'],
    ["U+0000 in a name", '{"username":"ann","\\u0000":1}'],
    ["half of a surrogate pair", '{"username":"ann","a":"\\ud83d"}'],
    ["deep nesting", `{"username":"ann","a":${"[".repeat(14_000)}${"]".repeat(14_000)}}`],
  ])("leave a record with %s to the resolver", async (_, text) => {
    expect(await indexed([text], DEFAULT_PRINCIPAL, "json")).toEqual([ASK_THE_RESOLVER]);
  });

  it("do not mistake an escaped backslash or a harmless escape for those", async () => {
    const texts = [
      { username: "ann", path: "C:\\users" },
      { username: "ann", bell: "\u0007" },
    ].map((data) => JSON.stringify(data));
    expect(await indexed(texts, DEFAULT_PRINCIPAL, "json")).toEqual(["ann", "ann"]);
  });

  const key = fc.constantFrom(
    "passport",
    "user",
    "username",
    "email",
    "name",
    "userId",
    "0",
    "1",
    "length",
    "-1",
    "a'b\\",
    "é",
  );
  const scalar = fc.oneof(
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.string({ maxLength: 5 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", maxDepth: 5 },
      scalar,
      fc.dictionary(key, tie("value"), { maxKeys: 6, noNullPrototype: true }),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
  }));
  const path = fc.array(key, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<[string, ...string[]]>;
  const somePaths = fc.oneof(fc.constant(DEFAULT_PRINCIPAL), fc.array(path, { minLength: 1, maxLength: 6 }));

  it("agree with the resolver about whatever is in a record and wherever the principal is, or leave it to that", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 20, maxLength: 60 }), somePaths, async (records, paths) => {
        const texts = records.map((record) => JSON.stringify(record));
        const names = await indexed(texts, paths, "json");
        for (const [at, text] of texts.entries()) {
          const name = expected(text, paths);
          if (names[at] !== ASK_THE_RESOLVER) expect([text, names[at]]).toEqual([text, name]);
          else expect([text, mayAsk(text, name)]).toEqual([text, true]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("make of every id what sessionDigest makes of it", async () => {
    const unit = fc.constantFrom("a", "\\", "\\0", "é", "😀", "'", "\u0001", "%", "/", "+", "\ufffd");
    const id = fc.oneof(
      fc.base64String({ maxLength: 40 }),
      fc.array(unit, { maxLength: 20 }).map((units) => units.join("")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(id, { minLength: 50, maxLength: 100 }), async (ids) => {
        const sql = `SELECT encode(${DIGEST_EXPRESSION}, 'hex') AS digest FROM unnest($1::text[]) WITH ORDINALITY AS ids (sid, at) ORDER BY at`;
        const digests = (await server.query(sql, [ids])).map(({ digest }) => digest);
        expect(digests).toEqual(ids.map(sessionDigest));
      }),
      { numRuns: 20 },
    );
  });
});
