import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Access } from "../../src/access/access.ts";
import { accessWith, bearer, errorOf, nameOf, put, scratch } from "./fixtures.ts";
import { AUDIENCE, ISSUER, signingKey } from "./jwks-server.ts";

const REVOKED = "UNAUTHENTICATED CREDENTIALS_REVOKED";
const key = await signingKey("first");
const minuteAgo = Math.floor(Date.now() / 1_000) - 60;
const halfMinuteAgo = new Date((minuteAgo + 30) * 1_000).toISOString();

/** Options with a file of these entries, and the file. */
function revoking(...entries: readonly object[]) {
  const folder = scratch();
  const [jwks, revoked] = [join(folder, "jwks.json"), join(folder, "revoked.json")];
  put(jwks, JSON.stringify({ keys: [key.publicJwk] }));
  const write = (...entries: readonly object[]) => put(revoked, JSON.stringify({ version: 1, revoked: entries }));
  write(...entries);
  return { revoked, write, access: { jwt: { jwks, revoked, issuer: ISSUER, audience: AUDIENCE } } };
}

test.each<[what: string, claims: Record<string, unknown>, result: string]>([
  ["another", { sub: "ann", jti: "1" }, "ann"],
  ["by its id", { sub: "ann", jti: "7" }, REVOKED],
  ["by its id, though that is a number", { sub: "ann", jti: 7 }, REVOKED],
  ["without an id, which is not the word for none", { sub: "ann" }, "ann"],
  ["an id that only looks like a subject", { sub: "7", jti: "bob" }, "7"],
  ["by its subject", { sub: "bob", iat: minuteAgo }, REVOKED],
  ["by its subject, though issued later", { sub: "bob", iat: minuteAgo + 60 }, REVOKED],
  ["of a subject until then", { sub: "carol", iat: minuteAgo }, REVOKED],
  ["of a subject from then on", { sub: "carol", iat: minuteAgo + 30 }, "carol"],
  ["that does not say when it was issued", { sub: "carol" }, REVOKED],
])("a JWT that is taken back counts no more: %s", async (_, claims, result) => {
  const carol = { sub: "carol", issuedBefore: halfMinuteAgo };
  const { access } = accessWith(revoking({ jti: "7" }, { jti: "undefined" }, { sub: "bob" }, carol).access);
  expect(await nameOf(access, bearer(await key.sign(claims)))).toBe(result);
});

test("the later of two times counts", async () => {
  const [early, late] = ["2020-01-01T00:00:00Z", halfMinuteAgo].map((issuedBefore) => ({ sub: "carol", issuedBefore }));
  const { access } = accessWith(revoking(late!, early!).access);
  expect(await nameOf(access, bearer(await key.sign({ sub: "carol", iat: minuteAgo })))).toBe(REVOKED);
});

test("what is taken back while somebody stays ends that; others go on", async () => {
  const { access: options, write } = revoking();
  const { access, errors } = accessWith(options);
  const [ann, bob] = [
    await access.authenticate(bearer(await key.sign({ sub: "ann" }))),
    await access.authenticate(bearer(await key.sign({ sub: "bob" }))),
  ];
  write({ sub: "ann" });
  await vi.waitFor(() => expect(access.isStillValid(ann)).toBe(false), { timeout: 30_000 });
  expect(access.isStillValid(bob)).toBe(true);
  expect(await nameOf(access, bearer(await key.sign({ sub: "ann" })))).toBe(REVOKED);
  expect(errors).toEqual([]);
});

test("a file with a fault changes nothing, and is told of", async () => {
  const { access: options, revoked } = revoking({ sub: "ann" });
  const { access, errors } = accessWith(options);
  put(revoked, "{");
  await vi.waitFor(() => expect(errors).toEqual([expect.stringContaining("is not JSON")]), { timeout: 30_000 });
  expect(await nameOf(access, bearer(await key.sign({ sub: "ann" })))).toBe(REVOKED);
});

test.each<[content: string, said: RegExp]>([
  ["", /is not JSON in UTF-8/],
  ["[]", /must be an object/],
  ["{}", /must have version and revoked/],
  [`{${Array.from({ length: 50 }, (_, at) => `"name${at}":1`).join()}}`, /^.{1,2000}and 30 more.{1,20}$/s],
  [`{"${"k".repeat(500)}":1,"${"k".repeat(500)}":2}`, /^.{1,300}$/],
  ['{"version":2,"revoked":[]}', /version must be 1/],
  ['{"version":1,"revoked":{}}', /revoked must be a list/],
  ['{"version":1,"revoked":["ann"]}', /revoked\[0\] must be an object/],
  ['{"version":1,"revoked":[{}]}', /revoked\[0\] must have either jti or sub/],
  ['{"version":1,"revoked":[{"jti":"1","sub":"ann"}]}', /must have either jti or sub/],
  ['{"version":1,"revoked":[{"sub":"ann","sub":"bob"}]}', /has "sub" twice in one object/],
  ['{"version":1,"revoked":[{"sub":5}]}', /revoked\[0\]\.sub must be a non-empty string/],
  ['{"version":1,"revoked":[{"subject":"ann"}]}', /did you mean "sub"\?/],
  ['{"version":1,"revoked":[{"sub":"ann","issuedBefore":"noon"}]}', /issuedBefore must be a time/],
  ['{"version":1,"revoked":[{"jti":"1","issuedBefore":"2026-01-01T00:00:00Z"}]}', /must not have issuedBefore/],
])("%s is an error at once", (content, said) => {
  const { access, revoked } = revoking();
  put(revoked, content);
  const error = errorOf(() => new Access(access));
  expect(error).toMatchObject({ reason: "INVALID_REVOKED_JWTS", metadata: { field: "access.jwt.revoked" } });
  expect(error.message).toMatch(said);
});
