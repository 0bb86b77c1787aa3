import { describe, expect, test } from "vitest";
import type { Session } from "../../../src/sessions/session.ts";
import { SessionHandles, sessionKeys } from "../../../src/sessions/session-handle.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

const KEY = "a key of 16 and more";
const handle = new SessionHandles(sessionKeys(KEY).handles).handleOf("sid");
const session: Session = { id: "sid", attributeNames: [], firstSeenTime: 0, expired: false, username: "alice" };
const store: SessionStore = {
  kind: "test",
  findById: async (id) => (id === "sid" ? session : undefined),
  findByUsername: async () => ({ sessions: [session], partial: false }),
  list: async () => ({ sessions: [session], partial: false }),
  delete: async (id) => id === "sid",
};

const served = (change: Partial<SessionStore>) =>
  serveRest({ endpoints: { sessions: new Sessions({ ...store, ...change }, { idKey: KEY }) } });

describe("a session under its hash", () => {
  test("is shown and ended by it, also where another instance has shown it", async () => {
    const { get, send } = await served({});
    expect(JSON.parse((await get(`/actuator/sessions/${handle}`)).text).id).toBe(handle);
    expect((await send({ method: "DELETE", path: `/actuator/sessions/${handle}` })).status).toBe(204);
    expect((await get("/actuator/sessions/sid")).status).toBe(404);
  });
});

describe("a store that was not searched to its end", () => {
  const cutOff = { sessions: [session], partial: true };

  test("has no list of a user's sessions: it would be taken for a whole one", async () => {
    const { get } = await served({ findByUsername: async () => cutOff });
    expect(await get("/actuator/sessions?username=alice")).toMatchObject({ status: 404, text: "" });
  });

  test("has neither the session of a hash that was not found, nor is that gone", async () => {
    const { get, send, reported } = await served({ list: async () => ({ sessions: [], partial: true }) });
    for (const method of ["GET", "DELETE"]) {
      expect(await send({ method, path: `/actuator/sessions/${handle}` })).toMatchObject({ status: 404, text: "" });
    }
    expect((await get("/actuator/sessions/sid")).status).toBe(404);
    expect(reported).toEqual([]);
  });
});

test("a name that is too long to be searched for is 400, not an empty list", async () => {
  const { get } = await served({});
  const answer = await get(`/actuator/sessions?username=${"x".repeat(1_025)}`);
  expect(problemIn(answer)).toMatchObject({ status: 400, message: expect.stringContaining("longer than 1024") });
});

describe("a store that must not be changed", () => {
  test("answers DELETE with 501 and the reason, not with a lying 204 or a 404 that reads as gone", async () => {
    const { delete: _, ...fixed } = store;
    const sessions = new Sessions({ ...fixed, limits: { delete: "The application ends them." } }, { idKey: KEY });
    const { get, send, reported } = await serveRest({ endpoints: { sessions } });
    const answer = await send({ method: "DELETE", path: `/actuator/sessions/${handle}` });
    expect(problemIn(answer)).toMatchObject({
      status: 501,
      error: "Not Implemented",
      message: "The application ends them.",
    });
    expect((await get(`/actuator/sessions/${handle}`)).status).toBe(200);
    expect(reported).toEqual([]);
  });
});

describe("sessions that live in cookies", () => {
  const limits = { findById: "They live in the clients' cookies." };

  test.each(["/actuator/sessions/any", "/actuator/sessions?username=alice"])("are not found: %s", async (path) => {
    const { get } = await served({ limits });
    expect(await get(path)).toMatchObject({ status: 404, text: "" });
  });

  test("cannot be ended, and the answer says why", async () => {
    const { send } = await served({ limits });
    const answer = await send({ method: "DELETE", path: "/actuator/sessions/any" });
    expect(problemIn(answer)).toMatchObject({ status: 501, message: limits.findById });
  });
});
