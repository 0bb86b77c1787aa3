import { describe, expect, test } from "vitest";
import { type AccessOptions, checkAccessOptions } from "../../src/access/options.ts";
import { errorOf } from "./fixtures.ts";

const jwt = { jwks: "https://id.example/keys", issuer: "https://id.example", audience: "orders" };
const check = (options: object) => checkAccessOptions("access", options as AccessOptions);

test("every option may be given", () => {
  check({});
  check({
    tokens: "tokens.json",
    basic: false,
    jwt: {
      ...jwt,
      issuer: ["a", "b"],
      audience: ["c"],
      algorithms: ["ES256", "EdDSA"],
      type: "at+jwt",
      revoked: "revoked.json",
      clockToleranceMs: 0,
      claims: { name: "email", permissions: ["realm_access", "roles"], loggers: "loggers" },
      grants: { oncall: ["loggers:*"] },
    },
    certificates: [
      { commonName: "orders", permissions: ["*"] },
      { alternativeName: "URI:spiffe://example.org/orders", name: "orders", permissions: [], loggers: ["orders"] },
      { fingerprint256: Array.from({ length: 32 }, () => "Ab").join(":"), permissions: ["info:read"] },
    ],
    anonymous: ["info:read"],
    limits: { maxFailuresPerMinute: 10, maxWritesPerMinute: 0.5 },
  });
  check({ authorize: () => undefined, jwt: { ...jwt, jwks: "http://127.0.0.1:8080/keys" }, tokens: undefined });
  check({ jwt: { ...jwt, jwks: "keys/jwks.json" } });
});

test("all that does not fit in a list of objects is named, each with its place", () => {
  const certificates = [
    { commonName: 5, permissions: ["loggers:read", "all"] },
    { commonName: "a", permissions: ["*"] },
    { commonName: "b" },
    7,
  ];
  const error = errorOf(() => check({ certificates, basic: 1 } as never));
  expect(error.faults).toEqual([
    {
      at: "access.certificates[0].commonName",
      message: "access.certificates entry 0.commonName must be a non-empty string",
    },
    {
      at: "access.certificates[0].permissions[1]",
      message: expect.stringMatching(/^access.certificates entry 0.permissions entry 1 must be one of/),
    },
    { at: "access.certificates[2]", message: "access.certificates entry 2 must have permissions" },
    {
      at: "access.certificates[3]",
      message: expect.stringMatching(/^access.certificates entry 3 must be an object of options/),
    },
    { at: "access.basic", message: "access.basic must be true or false" },
  ]);
});

describe("what does not fit is named with the way to it", () => {
  test.each<[options: object, message: string | RegExp]>([
    [{ token: "x" }, 'Unknown option "access.token"; did you mean "tokens"?'],
    [{ tokens: "" }, "access.tokens must be a non-empty string"],
    [{ authorize: true }, "access.authorize must be a function"],
    [{ anonymous: ["loggers"] }, /^access\.anonymous entry 0 must be one of loggers:read, /],
    [{ anonymous: "*" }, "access.anonymous must be a list"],
    [{ anonymous: [], authorize: () => undefined }, /^access\.anonymous cannot be combined with authorize/],
    [
      { tokens: "t.json", reauthorizeIntervalMs: 60_000 },
      /^access\.reauthorizeIntervalMs has no effect without authorize/,
    ],
    [{ basic: "yes" }, "access.basic must be true or false"],
    [
      { limits: { maxFailures: 1 } },
      'Unknown option "access.limits.maxFailures"; did you mean "maxFailuresPerMinute"?',
    ],
    [{ limits: { maxFailuresPerMinute: 0 } }, "access.limits.maxFailuresPerMinute must be a number above 0, not 0"],
    [{ limits: { maxWritesPerMinute: Number.POSITIVE_INFINITY } }, /maxWritesPerMinute must be a number above 0/],
    [{ jwt: {} }, "access.jwt must have jwks, issuer, audience"],
    [{ jwt: { ...jwt, audience: undefined } }, "access.jwt must have audience"],
    [{ jwt: { ...jwt, issuers: [] } }, 'Unknown option "access.jwt.issuers"; did you mean "issuer"?'],
    [{ jwt: { ...jwt, issuer: [] } }, "access.jwt.issuer must not be empty"],
    [{ jwt: { ...jwt, audience: "" } }, "access.jwt.audience must be a string or a list of strings"],
    [{ jwt: { ...jwt, algorithms: ["none"] } }, /^access\.jwt\.algorithms entry 0 must be one of RS256, /],
    [{ jwt: { ...jwt, algorithms: ["HS256"] } }, /^access\.jwt\.algorithms entry 0 must be one of RS256, /],
    [{ jwt: { ...jwt, algorithms: [] } }, "access.jwt.algorithms must not be empty"],
    [{ jwt: { ...jwt, clockToleranceMs: 300_001 } }, /from 0 to 300000$/],
    [{ jwt: { ...jwt, clockToleranceMs: Number.NaN } }, /from 0 to 300000$/],
    [{ jwt: { ...jwt, jwks: "http://id.example/keys" } }, /^access\.jwt\.jwks must be a path or an https: address/],
    [{ jwt: { ...jwt, jwks: "http://127.0.0.1.example/keys" } }, /must be a path or an https: address/],
    [
      { jwt: { ...jwt, jwks: "https://user:pw@id.example/" } },
      "access.jwt.jwks must be an address without user and password",
    ],
    [{ jwt: { ...jwt, jwks: "ftp://id.example/" } }, /must be a path or an https: address/],
    [{ jwt: { ...jwt, grants: { oncall: ["all"] } } }, /^access\.jwt\.grants of "oncall" entry 0 must be one of/],
    [{ jwt: { ...jwt, grants: ["*"] } }, "access.jwt.grants must be an object of lists"],
    [{ jwt: { ...jwt, claims: { permission: "p" } } }, /did you mean "permissions"\?/],
    [{ certificates: [] }, "access.certificates must not be empty"],
    [{ certificates: [{ permissions: ["*"] }] }, /^access\.certificates entry 0 must name a commonName/],
    [{ certificates: [{ commonName: "a" }] }, "access.certificates entry 0 must have permissions"],
    [{ certificates: [{ CN: "a", permissions: [] }] }, /^Unknown option "access.certificates entry 0.CN"; /],
    [{ certificates: [{ alternativeName: "orders", permissions: [] }] }, /with its kind, such as DNS:/],
    [{ certificates: [{ fingerprint256: "abc", permissions: [] }] }, /64 hexadecimal digits/],
    [{ certificates: [{ commonName: "a", permissions: [], loggers: [] }] }, /loggers must not be empty/],
  ])("%j", (options, message) => {
    const error = errorOf(() => check(options));
    expect(error.code).toBe("INVALID_ARGUMENT");
    expect(error.metadata.field).toMatch(/^access\.\w+|^it\./);
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });
});
