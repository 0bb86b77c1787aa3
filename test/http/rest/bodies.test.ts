import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { Session } from "../../../src/sessions/session.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

describe("the overview", () => {
  test("has the spec's keys in order, ROOT first and then by UTF-16 code unit, odd names included", async () => {
    const { get, loggers } = await serveRest({ loggers: { groups: { web: ["http"], 7: [] } } });
    const names = [
      "b",
      "a",
      "__proto__",
      "constructor",
      "42",
      "7",
      "toString",
      "Z",
      "é",
      "😀",
      "\uffee",
      'a"b',
      "hasOwnProperty",
    ];
    for (const name of names) loggers.setLevel(name, undefined);
    loggers.setLevel("b", "DEBUG");
    const inherits = '{"effectiveLevel":"INFO"}';
    const shown = [
      '"ROOT":{"configuredLevel":"INFO","effectiveLevel":"INFO"}',
      `"42":${inherits}`,
      `"7":${inherits}`,
      `"Z":${inherits}`,
      `"__proto__":${inherits}`,
      `"a":${inherits}`,
      `"a\\"b":${inherits}`,
      '"b":{"configuredLevel":"DEBUG","effectiveLevel":"DEBUG"}',
      `"constructor":${inherits}`,
      `"hasOwnProperty":${inherits}`,
      `"toString":${inherits}`,
      `"é":${inherits}`,
      `"😀":${inherits}`,
      `"\uffee":${inherits}`,
    ];
    expect((await get("/actuator/loggers")).text).toBe(
      '{"levels":["OFF","FATAL","ERROR","WARN","INFO","DEBUG","TRACE"],' +
        `"loggers":{${shown.join(",")}},"groups":{"7":{"members":[]},"web":{"members":["http"]}}}`,
    );
  });

  test("always has groups", async () => {
    const { get } = await serveRest();
    expect((await get("/actuator/loggers")).text).toMatch(/,"groups":\{\}\}$/);
  });

  test("lists the ancestors of a known logger; dots, colons and slashes separate, a dollar does not", async () => {
    const { get, loggers } = await serveRest();
    for (const name of ["a.b.c", "d:e", "f/g", "h$i"]) loggers.setLevel(name, "WARN");
    const names = Object.keys(JSON.parse((await get("/actuator/loggers")).text).loggers);
    expect(names).toEqual(["ROOT", "a", "a.b", "a.b.c", "d", "d:e", "f", "f/g", "h$i"]);
  });

  test("is up to date after every change", async () => {
    const { get, post } = await serveRest();
    for (const level of ["DEBUG", "WARN"]) {
      await post("/actuator/loggers/a", { configuredLevel: level });
      expect(JSON.parse((await get("/actuator/loggers")).text).loggers.a).toEqual({
        configuredLevel: level,
        effectiveLevel: level,
      });
    }
  });
});

describe("what this project adds", () => {
  test("is in no REST body", async () => {
    const { get, loggers } = await serveRest();
    loggers.setLevel("a", "WARN");
    expect(loggers.get("a")).toHaveProperty("kind");
    expect((await get("/actuator/loggers/a")).text).toBe('{"configuredLevel":"WARN","effectiveLevel":"WARN"}');
  });
});

/** A store that answers what the test gives it. */
function storeOf(answer: Partial<Session>): SessionStore {
  const session: Session = { id: "s1", attributeNames: [], firstSeenTime: 0, expired: false, ...answer };
  return {
    kind: "test",
    findById: async () => session,
    findByUsername: async () => ({ sessions: [session], partial: false }),
    delete: async () => true,
  };
}

describe("a session", () => {
  test.each<readonly [string, Partial<Session>, string]>([
    [
      "has the spec's keys in order, and times with three digits of a fraction",
      {
        attributeNames: ["cart", "user"],
        creationTime: Date.parse("2026-01-02T03:04:05Z"),
        lastAccessedTime: Date.parse("2026-01-02T03:04:06.7Z"),
        maxInactiveInterval: 1800,
        username: "alice",
      },
      '{"id":"s1","attributeNames":["cart","user"],"creationTime":"2026-01-02T03:04:05.000Z","lastAccessedTime":"2026-01-02T03:04:06.700Z","maxInactiveInterval":1800,"expired":false}',
    ],
    [
      "that never expires has a negative interval",
      { creationTime: 0, lastAccessedTime: 1, maxInactiveInterval: -1 },
      '{"id":"s1","attributeNames":[],"creationTime":"1970-01-01T00:00:00.000Z","lastAccessedTime":"1970-01-01T00:00:00.001Z","maxInactiveInterval":-1,"expired":false}',
    ],
    [
      "of unknown times shows when it was first seen, and no interval that nobody knows",
      { firstSeenTime: 5 },
      '{"id":"s1","attributeNames":[],"creationTime":"1970-01-01T00:00:00.005Z","lastAccessedTime":"1970-01-01T00:00:00.005Z","expired":false}',
    ],
    [
      "has whole seconds",
      { creationTime: 0, lastAccessedTime: 0, maxInactiveInterval: 59.9 },
      '{"id":"s1","attributeNames":[],"creationTime":"1970-01-01T00:00:00.000Z","lastAccessedTime":"1970-01-01T00:00:00.000Z","maxInactiveInterval":59,"expired":false}',
    ],
  ])("%s", async (_, session, text) => {
    const { get } = await serveRest({ endpoints: { sessions: new Sessions(storeOf(session), { ids: "raw" }) } });
    expect((await get("/actuator/sessions/s1")).text).toBe(text);
    expect((await get("/actuator/sessions?username=alice")).text).toBe(`{"sessions":[${text}]}`);
  });

  test("that has expired is shown to a search while its store keeps it", async () => {
    const { get } = await serveRest({
      endpoints: { sessions: new Sessions(storeOf({ expired: true }), { ids: "raw" }) },
    });
    expect((await get("/actuator/sessions?username=alice")).text).toContain('"expired":true');
  });

  test("that never expires is really deleted", async () => {
    const { get, send, store } = await serveRest();
    store.put({ id: "never", username: "alice", maxInactiveInterval: -1 });
    expect((await send({ method: "DELETE", path: "/actuator/sessions/never" })).status).toBe(204);
    expect((await get("/actuator/sessions/never")).status).toBe(404);
    expect((await get("/actuator/sessions?username=alice")).text).toBe('{"sessions":[]}');
  });

  test("is found by its id, decoded, and compared exactly", async () => {
    const { get, store } = await serveRest();
    store.put({ id: "a b" });
    expect((await get("/actuator/sessions/a%20b")).status).toBe(200);
    expect((await get("/actuator/sessions/a%20b;jsessionid=1")).status).toBe(200);
    expect(await get("/actuator/sessions/A%20B")).toMatchObject({ status: 404, text: "" });
    expect(problemIn(await get("/actuator/sessions/%ff"))).toMatchObject({ status: 400 });
  });
});

describe("the search by user", () => {
  test.each([
    ["", 400],
    ["?", 400],
    ["?user=alice", 400],
    ["?USERNAME=alice", 400],
    ["?username=alice&username=bob", 400],
    ["?username=alice&user%6eame=alice", 400],
    ["?username=%ff", 400],
    ["?username=%", 400],
    ["?username=alice", 200],
    ["?username=al%69ce", 200],
    ["?user%6Eame=alice", 200],
    ["?x=1&&username=alice&%ff=1", 200],
  ])("%s answers %i", async (query, status) => {
    const { get, store } = await serveRest();
    store.put({ id: "s1", username: "alice" });
    const answer = await get(`/actuator/sessions${query}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(JSON.parse(answer.text).sessions).toHaveLength(1);
    else expect(problemIn(answer)).toMatchObject({ status: 400, path: "/actuator/sessions" });
  });

  test.each(["?username", "?username=", "?username=nope", "?username=ALICE", "?username=alice%20", "?username=a+b"])(
    "%s finds nobody",
    async (query) => {
      const { get, store } = await serveRest();
      store.put({ id: "s1", username: "alice" });
      expect(await get(`/actuator/sessions${query}`)).toMatchObject({ status: 200, text: '{"sessions":[]}' });
    },
  );

  test("decodes a plus as a space", async () => {
    const { get, store } = await serveRest();
    store.put({ id: "s1", username: "a b" });
    expect(JSON.parse((await get("/actuator/sessions?username=a+b")).text).sessions).toHaveLength(1);
  });

  test("is 404 without a body where the store cannot search", async () => {
    const { findByUsername: _, ...store } = storeOf({});
    const { get } = await serveRest({ endpoints: { sessions: new Sessions(store, { ids: "raw" }) } });
    const answer = await get("/actuator/sessions?username=alice");
    expect(answer).toMatchObject({ status: 404, text: "" });
    expect(answer.headers).not.toHaveProperty("content-type");
    expect((await get("/actuator/sessions")).status).toBe(400);
  });
});

describe("what goes wrong inside", () => {
  const failing = (error: Error): Sessions => {
    const fail = () => Promise.reject(error);
    return new Sessions({ kind: "test", findById: fail, findByUsername: fail, delete: fail }, { ids: "raw" });
  };
  const requests = [
    ["GET", "/actuator/sessions/secret-id", "GET /actuator/sessions/{sessionId}"],
    ["DELETE", "/actuator/sessions/secret-id", "DELETE /actuator/sessions/{sessionId}"],
    ["GET", "/actuator/sessions?username=alice", "GET /actuator/sessions"],
  ] as const;

  test.each(requests)(
    "is a 500 that says nothing of it, and is reported with its route: %s %s",
    async (method, path, context) => {
      const error = new Error("password=hunter2");
      const { send, reported } = await serveRest({ endpoints: { sessions: failing(error) } });
      const answer = await send({ method, path });
      expect(problemIn(answer)).toMatchObject({ status: 500, error: "Internal Server Error" });
      expect(answer.text).not.toMatch(/hunter2|Error:|at /);
      expect(reported).toEqual([{ error, context }]);
    },
  );

  const stores = [
    ["is out of reach", "UNAVAILABLE"],
    ["refuses what it is asked", "FAILED_PRECONDITION"],
  ] as const;

  test.each(stores.flatMap(([what, code]) => requests.map((request) => [what, ...request, code] as const)))(
    "is a 503 with its message where the store %s: %s %s",
    async (_, method, path, context, code) => {
      const error = new ActuatorError(code, "STORE_UNAVAILABLE", "The session store does not answer.");
      const { send, reported } = await serveRest({ endpoints: { sessions: failing(error) } });
      const answer = await send({ method, path });
      expect(problemIn(answer)).toMatchObject({ status: 503, message: "The session store does not answer." });
      expect(reported).toEqual([{ error, context }]);
    },
  );

  test("is a 500 where a domain throws at once, also for an answer that would be compressed", async () => {
    class Broken extends Loggers {
      override list(): never {
        throw new TypeError("secret");
      }
    }
    const { get, reported } = await serveRest({ endpoints: { loggers: new Broken() } });
    const answer = await get("/actuator/loggers", { "Accept-Encoding": "gzip" });
    expect(problemIn(answer)).toMatchObject({ status: 500 });
    expect(answer.text).not.toContain("secret");
    expect(reported).toHaveLength(1);
  });
});
