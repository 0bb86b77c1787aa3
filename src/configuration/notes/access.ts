import type { AccessLimits, AccessOptions, JwtClaims, JwtOptions } from "../../access/options.ts";
import { CODE, type Notes, TEXT_OR_TEXTS } from "../setting.ts";

const JWT_NOTES: Notes<JwtOptions> = {
  jwks: { description: "The keys that sign: a file, or an https address.", kind: "text", path: "read" },
  issuer: { description: "The issuers that are believed.", kind: "list", schema: TEXT_OR_TEXTS },
  audience: { description: "The audiences that mean this application.", kind: "list", schema: TEXT_OR_TEXTS },
  algorithms: { description: "The algorithms that are let in; all are asymmetric.", kind: "list" },
  type: { description: 'The type that the header must have, such as "at+jwt". Default: any.' },
  clockToleranceMs: {
    description: "How far the clocks of both sides may be apart.",
    kind: "milliseconds",
    default: 30_000,
  },
  revoked: { description: "The file of JWTs that count no more though they have not expired.", path: "read" },
  claims: {
    description: "Where a token says what.",
    notes: {
      name: { description: "Who it is.", kind: "list", default: ["sub"], schema: TEXT_OR_TEXTS },
      permissions: {
        description: "What they may do. Default: permissions, or else scope.",
        kind: "list",
        schema: TEXT_OR_TEXTS,
      },
      loggers: {
        description: "The loggers whose levels may be changed. Default: all.",
        kind: "list",
        schema: TEXT_OR_TEXTS,
      },
    } satisfies Notes<JwtClaims>,
  },
  grants: { description: 'What roles stand for: { "oncall": ["loggers:*"] }.', kind: "lists" },
};

const LIMITS_NOTES: Notes<AccessLimits> = {
  maxFailuresPerMinute: { description: "Wrong credentials a minute from one address.", default: 30 },
  maxWritesPerMinute: { description: "Writes a minute by one caller.", default: 300 },
};

/** What is said of the options of access. */
export const ACCESS_NOTES: Notes<AccessOptions> = {
  tokens: { description: "The file of tokens, as connect-actuator token create writes it.", path: "read" },
  jwt: { description: "JSON Web Tokens, as an identity provider signs them.", notes: JWT_NOTES },
  certificates: {
    description: 'Who shows which client certificate: [{ "commonName": "ops", "permissions": ["*"] }].',
    kind: "json",
    schema: { type: "array", items: { type: "object" } },
  },
  authorize: CODE,
  reauthorizeIntervalMs: CODE,
  anonymous: {
    description:
      "What callers may do who show nothing. Default: nothing, or everything where nobody is asked who they are.",
    kind: "list",
  },
  basic: { description: "Whether tokens are also taken as the password of Basic.", default: true },
  limits: { description: "How often is too often.", notes: LIMITS_NOTES },
};
