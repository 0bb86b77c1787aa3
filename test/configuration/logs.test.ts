import { expect, test } from "vitest";
import { configuration } from "../../src/index.ts";
import { tokensFor } from "../support/tokens.ts";

test("the redaction of a file or the environment joins the function that only code can give", () => {
  const redact = () => undefined;
  const env = { ACTUATOR_LOGS_REDACT_KEYS: "iban,ssn", ACTUATOR_LOGS_MAX_TAILS: "7" };
  expect(configuration({ options: { logs: { redact, maxRaisedPerSecond: 9 } }, env }).options.logs).toEqual({
    ...{ redact, redactKeys: ["iban", "ssn"], maxTails: 7, maxRaisedPerSecond: 9 },
  });
  expect(configuration({ env: { ACTUATOR_LOGS: "false" } }).options.logs).toBe(false);
});

test.each([
  ["ACTUATOR_LOGS_MAX_TAILS", "0", /at least 1/],
  ["ACTUATOR_LOGS_MAX_RAISED_PER_SECOND", "-1", /at least 1/],
  ["ACTUATOR_LOGS_REDACT", "x", /ACTUATOR_LOGS_REDACT: Unknown setting/],
  ["ACTUATOR_ACCESS_ANONYMOUS", "logs:*", /logs:read/],
])("%s=%s is refused", (name, value, message) => {
  expect(() => configuration({ env: { [name]: value } })).toThrow(message);
});

test("records are granted to callers without credentials only by their name", () => {
  const anonymous = (text: string) => configuration({ env: { ACTUATOR_ACCESS_ANONYMOUS: text } }).options.access;
  expect(anonymous("*,logs:read")).toEqual({ anonymous: ["*", "logs:read"] });
  const { file } = tokensFor({ a: { permissions: ["logs:read"] } });
  expect(configuration({ env: { ACTUATOR_ACCESS_TOKENS: file } }).options.access).toEqual({ tokens: file });
});
