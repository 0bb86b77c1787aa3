import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AccessOptions } from "../../src/access/options.ts";
import { PERMISSIONS, type PermissionPattern } from "../../src/access/permission.ts";
import { cli } from "../cli/cli-process.ts";
import { accessWith, authRequest, bearer, outcome, scratch, tokenFile, tokenOf } from "./fixtures.ts";
import { AUDIENCE, ISSUER, jwksServer, signingKey } from "./jwks-server.ts";

/** What a caller is granted, and whether it may read records. */
const GRANTS: readonly (readonly [what: string, permissions: readonly PermissionPattern[], isGranted: boolean])[] = [
  ["for *", ["*"], false],
  ["for every pattern but its name", ["loggers:*", "sessions:*", "graph:*", "info:*", "*"], false],
  ["for its name", ["logs:read"], true],
  ["for its name beside *", ["*", "logs:read"], true],
];

/** A certificate with the common name "ci". */
const certificate = { commonName: "ci", alternativeNames: [], fingerprint256: "" };

async function isGranted(options: AccessOptions, request = authRequest()): Promise<boolean> {
  return typeof (await outcome(accessWith(options).access, request, "logs:read")) === "object";
}

describe.each(GRANTS)("logs:read %s", (_, permissions, expected) => {
  test("in a file of tokens", async () => {
    const { token, entry } = tokenOf("alice", { permissions });
    expect(await isGranted({ tokens: tokenFile(entry) }, bearer(token))).toBe(expected);
  });

  test("in a rule for certificates", async () => {
    const certificates = [{ commonName: "ci", permissions }];
    expect(await isGranted({ certificates }, authRequest({ certificate }))).toBe(expected);
  });

  test("from a function of the application", async () => {
    expect(await isGranted({ authorize: () => ({ name: "fox", permissions }) })).toBe(expected);
    expect(await isGranted({ authorize: async () => ({ name: "fox", permissions }) })).toBe(expected);
  });

  test("for anonymous callers", async () => {
    expect(await isGranted({ anonymous: permissions })).toBe(expected);
    expect(await isGranted({ anonymous: permissions, tokens: tokenFile() })).toBe(expected);
  });

  test("in the grants of a JWT's role, and in its own claims", async () => {
    const key = await signingKey("first");
    const { url: jwks } = await jwksServer([key.publicJwk]);
    const jwt = { jwks, issuer: ISSUER, audience: AUDIENCE };
    const withRole = bearer(await key.sign({ permissions: ["oncall"] }));
    expect(await isGranted({ jwt: { ...jwt, grants: { oncall: permissions } } }, withRole)).toBe(expected);
    expect(await isGranted({ jwt }, bearer(await key.sign({ permissions })))).toBe(expected);
    const scope = permissions.join(" ");
    expect(await isGranted({ jwt }, bearer(await key.sign({ permissions: undefined, scope })))).toBe(expected);
  });
});

describe("logs:read", () => {
  test("is in no default", async () => {
    expect(await isGranted({})).toBe(false);
    expect(await isGranted({ tokens: tokenFile() })).toBe(false);
    expect(await isGranted({ authorize: () => undefined })).toBe(false);
  });

  test("says that * does not include it", async () => {
    const { token, entry } = tokenOf("alice", { permissions: ["*"] });
    const { access } = accessWith({ tokens: tokenFile(entry) });
    const caller = await access.authenticate(bearer(token));
    expect(() => access.authorize(caller, "logs:read")).toThrow(
      'The caller lacks the permission logs:read, which is granted only by name: "*" does not include it.',
    );
    expect(() => access.authorize({ ...caller, permissions: new Set() }, "info:read")).toThrow(
      "The caller lacks the permission info:read.",
    );
  });

  test("is created for a token by its name, and there is no logs:*", async () => {
    const file = join(scratch(), "tokens.json");
    const create = (...permissions: string[]) =>
      cli(["token", "create", "--file", file, "--name", permissions.join(), "--permission", ...permissions]);
    const secrets = await Promise.all([create("*"), create("loggers:read", "logs:read")]);
    expect(secrets.map(({ code }) => code)).toEqual([0, 0]);
    const granted = secrets.map(({ stdout }) => isGranted({ tokens: file }, bearer(stdout.trimEnd())));
    expect(await Promise.all(granted)).toEqual([false, true]);
    const refused = await create("logs:*");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("logs:read") });
  });
});

test("every permission is explained in the documentation", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "access.md"), "utf8");
  expect(PERMISSIONS.filter((each) => !page.includes(`| \`${each}\` |`))).toEqual([]);
});
