import { describe, expect, test } from "vitest";
import { requirePermission } from "../../../src/access/caller.ts";
import type { Permission } from "../../../src/access/permission.ts";
import { ActuatorError } from "../../../src/common/error.ts";
import { createGate } from "../../../src/http/gate/gate.ts";
import { Health } from "../../../src/operations/health/health.ts";
import type { HealthOptions } from "../../../src/operations/health/health-options.ts";
import { HealthWarnings } from "../../../src/operations/health/health-status.ts";
import { LOCAL_PEER } from "../../support/open-gate.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

/** Lets in whoever names permissions in the place of a token. */
const gate = createGate({
  authenticated: true,
  peer: LOCAL_PEER,
  access: {
    challenges: ["Bearer"],
    authenticate({ authorization }) {
      if (authorization === undefined) throw new ActuatorError("UNAUTHENTICATED", "NO_CREDENTIALS", "Who are you?");
      return { name: "test", authentication: "token", permissions: new Set(authorization.split(" ") as Permission[]) };
    },
    authorize(caller, permission) {
      requirePermission(caller, permission);
      return caller;
    },
    isStillValid: () => true,
    isExpired: () => false,
  },
});

const OPERATOR = { Authorization: "info:read" };
const STRANGERS = [{}, { Authorization: "loggers:read" }];

async function serveHealth(checks: HealthOptions["checks"], asked = true) {
  const health = new Health({ checks, cacheMs: 0, timeoutMs: 60_000 });
  return { ...(await serveRest({ endpoints: { health }, ...(asked && { gateway: { gate } }) })), health };
}

class RedisError extends Error {
  override readonly name = "RedisError";
  readonly code = "ECONNREFUSED";
}

const WELL = { db: async () => true };
const ILL = {
  ...WELL,
  redis: () => Promise.reject(new RedisError("redis://user:secret@10.0.0.1")),
};

describe("to those who may read about the application", () => {
  test("the health shows what it is made of", async () => {
    const { get } = await serveHealth(WELL);
    const { status, text } = await get("/actuator/health", OPERATOR);
    expect({ status, json: JSON.parse(text) }).toEqual({
      status: 200,
      json: {
        status: "UP",
        components: { drain: { status: "UP" }, db: { status: "UP" } },
        groups: ["liveness", "readiness"],
      },
    });
  });

  test("a check that fails is shown by the class of its error, without its words", async () => {
    const { get } = await serveHealth(ILL);
    const { status, text } = await get("/actuator/health", OPERATOR);
    const redis = { status: "DOWN", details: { error: "RedisError", code: "ECONNREFUSED" } };
    expect({ status, json: JSON.parse(text) }).toMatchObject({
      status: 503,
      json: { status: "DOWN", components: { redis } },
    });
    expect(text).not.toContain("secret");
    const part = await get("/actuator/health/redis", OPERATOR);
    expect({ status: part.status, json: JSON.parse(part.text) }).toEqual({ status: 503, json: redis });
  });

  test("a check that works and warns is shown with its warnings", async () => {
    const warnings = ["Redis may evict the index."];
    const { get } = await serveHealth({ sessions: () => new HealthWarnings(warnings) });
    const { status, text } = await get("/actuator/health/sessions", OPERATOR);
    expect({ status, json: JSON.parse(text) }).toEqual({ status: 200, json: { status: "UP", details: { warnings } } });
  });

  test("so is everything where nobody is asked who they are", async () => {
    const { get } = await serveHealth(WELL, false);
    expect(JSON.parse((await get("/actuator/health")).text).components).toBeDefined();
    expect((await get("/actuator/health/db")).text).toBe('{"status":"UP"}');
  });

  test("a component that is not there is 404 without a body", async () => {
    const { get } = await serveHealth(WELL);
    for (const name of ["cache", "toString", "__proto__", "%C3%A9"]) {
      const { status, text } = await get(`/actuator/health/${name}`, OPERATOR);
      expect({ name, status, text }).toEqual({ name, status: 404, text: "" });
    }
  });
});

describe.each(STRANGERS)("to those who may not, with %j", (headers) => {
  test("the health is a bare status", async () => {
    expect(await answersOf(WELL, "/actuator/health", headers)).toEqual({ status: 200, text: '{"status":"UP"}' });
    expect(await answersOf(ILL, "/actuator/health", headers)).toEqual({ status: 503, text: '{"status":"DOWN"}' });
  });

  test("the probes of Kubernetes are answered", async () => {
    expect(await answersOf(ILL, "/actuator/health/liveness", headers)).toEqual({
      status: 200,
      text: '{"status":"UP"}',
    });
    expect(await answersOf(ILL, "/actuator/health/readiness", headers)).toEqual({
      status: 503,
      text: '{"status":"DOWN"}',
    });
  });

  test("no component is there", async () => {
    expect(await answersOf(WELL, "/actuator/health/db", headers)).toEqual({ status: 404, text: "" });
    expect(await answersOf(WELL, "/actuator/health/none", headers)).toEqual({ status: 404, text: "" });
  });
});

async function answersOf(checks: HealthOptions["checks"], path: string, headers: Readonly<Record<string, string>>) {
  const { get } = await serveHealth(checks);
  const { status, text } = await get(path, headers);
  return { status, text };
}

test("a drain is told at once: not ready, but alive", async () => {
  const { get, health } = await serveHealth(ILL, false);
  health.status = "OUT_OF_SERVICE";
  const bare = async (path: string) => {
    const { status, text } = await get(path);
    return [status, JSON.parse(text).status];
  };
  expect(await bare("/actuator/health")).toEqual([503, "OUT_OF_SERVICE"]);
  expect(await bare("/actuator/health/readiness")).toEqual([503, "OUT_OF_SERVICE"]);
  expect(await bare("/actuator/health/liveness")).toEqual([200, "UP"]);
  expect(await bare("/actuator/health/drain")).toEqual([503, "OUT_OF_SERVICE"]);
});

test("many who ask at a time have the checks run once", async () => {
  let runs = 0;
  let answer = () => {};
  const { get } = await serveHealth({
    slow: () =>
      new Promise<void>((resolve) => {
        runs++;
        answer = resolve;
        // All of them have come when as many have been answered that need no check.
        void Promise.all(Array.from({ length: 20 }, () => get("/actuator/health/liveness"))).then(() => answer());
      }),
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => get("/actuator/health")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(runs).toBeLessThan(5);
});

test("without checks the health is exactly as the contract has it, and has no parts", async () => {
  const { get, health } = await serveRest();
  expect(await get("/actuator/health")).toMatchObject({ status: 200, text: '{"status":"UP"}' });
  health.status = "OUT_OF_SERVICE";
  expect(await get("/actuator/health")).toMatchObject({ status: 503, text: '{"status":"OUT_OF_SERVICE"}' });
  for (const part of ["liveness", "readiness", "drain"]) {
    expect(problemIn(await get(`/actuator/health/${part}`))).toMatchObject({ status: 404, error: "Not Found" });
  }
});
