import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import {
  ListSessionsRequestSchema,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
  SessionsService,
} from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { sessionsService } from "../../../src/http/rpc/sessions-service.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import type { Session } from "../../../src/sessions/session.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { anybody } from "../../support/rpc-context.ts";
import { errorInfo, fixedStore, grpcClient, serveRpc } from "../../support/rpc-harness.ts";

const START = Date.parse("2026-01-02T03:04:05.678Z");

async function serveSessions(store: SessionStore) {
  const { url, errors } = await serveRpc({ sessions: new Sessions(store, { ids: "raw" }) });
  return { errors, client: grpcClient(SessionsService, url) };
}

function session(id: string, details: Partial<Session> = {}): Session {
  return { id, attributeNames: [], firstSeenTime: START, expired: false, username: "alice", ...details };
}

const failure = (call: Promise<unknown>) => call.then(() => undefined, ConnectError.from);

describe("a session", () => {
  test("shows what its store knows", async () => {
    const store = new MemorySessionStore({ clock: () => START + 1500 });
    store.put({
      id: "4db5efcc",
      username: "alice",
      attributeNames: ["cart", "csrf"],
      creationTime: START,
      maxInactiveInterval: 1800,
    });
    const { client } = await serveSessions(store);
    const { session: found } = await client.getSession({ id: "4db5efcc" });
    expect(found).toMatchObject({
      id: "4db5efcc",
      attributeNames: ["cart", "csrf"],
      creationTime: { seconds: BigInt(Math.floor(START / 1000)), nanos: 678_000_000 },
      lastAccessedTime: { seconds: BigInt(Math.floor(START / 1000) + 2), nanos: 178_000_000 },
      maxInactiveInterval: { seconds: 1800n, nanos: 0 },
      expired: false,
      username: "alice",
    });
  });

  test("leaves unset what its store does not know; the time it was first seen stands in for nothing", async () => {
    const { client } = await serveSessions(fixedStore([session("1", { username: undefined })]));
    const { session: found } = await client.getSession({ id: "1" });
    expect(found).toMatchObject({ id: "1", username: "", expired: false });
    expect([found?.creationTime, found?.lastAccessedTime, found?.maxInactiveInterval]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("that outlives what a Duration can say is shown for as long as one can, in JSON too", async () => {
    const lasting = session("1", { maxInactiveInterval: 1e15 });
    const { url } = await serveRpc({ sessions: new Sessions(fixedStore([lasting]), { ids: "raw" }) });
    const answer = await fetch(`${url}/${SessionsService.typeName}/GetSession`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "1" }),
    });
    expect(await answer.json()).toMatchObject({ session: { maxInactiveInterval: "315576000000s" } });
  });

  test("that never expires has a negative interval", async () => {
    const { client } = await serveSessions(fixedStore([session("1", { maxInactiveInterval: -1 })]));
    expect((await client.getSession({ id: "1" })).session?.maxInactiveInterval?.seconds).toBe(-1n);
  });

  test("that is unknown is NOT_FOUND, and the id is not repeated", async () => {
    const { client } = await serveSessions(new MemorySessionStore());
    const error = await failure(client.getSession({ id: "s3cret-id" }));
    expect(error?.code).toBe(Code.NotFound);
    expect(errorInfo(error!)).toMatchObject({ reason: "SESSION_NOT_FOUND", metadata: { field: "id" } });
    expect(JSON.stringify([error?.message, errorInfo(error!)])).not.toContain("s3cret");
  });

  test("ends by DeleteSession, which says whether it existed", async () => {
    const store = new MemorySessionStore();
    store.put({ id: "1" });
    const { client } = await serveSessions(store);
    expect((await client.deleteSession({ id: "1" })).existed).toBe(true);
    expect((await client.deleteSession({ id: "1" })).existed).toBe(false);
    expect(store.size).toBe(0);
  });
});

describe("ListSessions", () => {
  const ids = ({ sessions }: { sessions: { id: string }[] }) => sessions.map(({ id }) => id);

  test("lists the user's sessions, newest access first, then by id", async () => {
    const store = new MemorySessionStore();
    store.put({ id: "old", username: "alice", lastAccessedTime: Date.now() - 2000 });
    store.put({ id: "b", username: "alice", lastAccessedTime: Date.now() + 1000 });
    store.put({ id: "bob's", username: "bob" });
    const { client } = await serveSessions(store);
    const listed = await client.listSessions({ username: "alice" });
    expect(ids(listed)).toEqual(["b", "old"]);
    expect(listed).toMatchObject({ nextPageToken: "", partial: false });
    expect(ids(await client.listSessions({ username: "ALICE" }))).toEqual([]);
  });

  test.each([1, 3, 10])("pages of %i give every session once, even of the same millisecond", async (pageSize) => {
    const all = Array.from({ length: 20 }, (_, index) =>
      session(`id${String(index).padStart(2, "0")}`, { lastAccessedTime: START - Math.floor(index / 5) }),
    );
    const { client } = await serveSessions(fixedStore(all));
    const listed: string[] = [];
    let pageToken = "";
    do {
      const page = await client.listSessions({ username: "alice", pageSize, pageToken });
      expect(page.sessions.length).toBeLessThanOrEqual(pageSize);
      listed.push(...ids(page));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(listed).toEqual(all.map(({ id }) => id));
  });

  test("loses no session when the last of a page is gone before the next is asked for", async () => {
    const store = new MemorySessionStore();
    const lastAccessedTime = Date.now() - 1000;
    for (const id of ["a", "b", "c", "d"]) store.put({ id, username: "alice", lastAccessedTime });
    const { client } = await serveSessions(store);
    const { nextPageToken: pageToken } = await client.listSessions({ username: "alice", pageSize: 2 });
    await store.delete("b");
    expect(ids(await client.listSessions({ username: "alice", pageToken }))).toEqual(
      expect.arrayContaining(["c", "d"]),
    );
  });

  test("gives at most 1,000 sessions in a page", async () => {
    const all = Array.from({ length: 1001 }, (_, index) => session(`id${index}`));
    const { client } = await serveSessions(fixedStore(all));
    for (const pageSize of [0, 5000]) {
      const page = await client.listSessions({ username: "alice", pageSize });
      expect([page.sessions.length, page.nextPageToken !== ""]).toEqual([1000, true]);
    }
  });

  test("puts no session id into a page token, which ends up in logs", async () => {
    const { client } = await serveSessions(fixedStore([session("secret-1"), session("secret-2")]));
    const { nextPageToken } = await client.listSessions({ username: "alice", pageSize: 1 });
    expect(Buffer.from(nextPageToken, "base64url").toString()).not.toContain("secret");
  });

  test("refuses a page token of another user, and a negative size", async () => {
    const { client } = await serveSessions(fixedStore([session("1"), session("2")]));
    const { nextPageToken: pageToken } = await client.listSessions({ username: "alice", pageSize: 1 });
    const other = await failure(client.listSessions({ username: "bob", pageToken }));
    expect([other?.code, errorInfo(other!)?.reason]).toEqual([Code.InvalidArgument, "INVALID_PAGE_TOKEN"]);
    const active = await failure(client.listSessions({ username: "alice", pageToken, active: true }));
    expect(errorInfo(active!)?.reason).toBe("INVALID_PAGE_TOKEN");
    const negative = await failure(client.listSessions({ username: "alice", pageSize: -1 }));
    expect([negative?.code, errorInfo(negative!)?.reason]).toEqual([Code.InvalidArgument, "INVALID_PAGE_SIZE"]);
  });

  test("without a username lists all, newest access first, in pages of 100 unless another size is asked for", async () => {
    const store = new MemorySessionStore();
    const now = Date.now();
    for (let age = 0; age < 120; age++) {
      const username = age % 2 ? "bob" : undefined;
      store.put({ id: `id${age}`, username, lastAccessedTime: now - age * 1000, maxInactiveInterval: 100 });
    }
    const { client } = await serveSessions(store);
    const first = await client.listSessions({ includeTotal: true });
    expect(ids(first)).toEqual(Array.from({ length: 100 }, (_, age) => `id${age}`));
    expect(first).toMatchObject({ totalSize: 120n, partial: false });
    const rest = await client.listSessions({ pageToken: first.nextPageToken, pageSize: 5000 });
    expect([rest.sessions.length, rest.nextPageToken, rest.totalSize]).toEqual([20, "", undefined]);
    const refused = await failure(client.listSessions({ pageToken: first.nextPageToken, active: true }));
    expect(errorInfo(refused!)?.reason).toBe("INVALID_PAGE_TOKEN");
  });

  test.each(["", "alice"])("of %j selects active sessions, or those that are over", async (username) => {
    const store = new MemorySessionStore();
    store.put({ id: "live", username: "alice" });
    store.put({ id: "over", username: "alice", lastAccessedTime: Date.now() - 5_000, maxInactiveInterval: 1 });
    const { client } = await serveSessions(store);
    for (const [active, expected] of [
      [undefined, ["live", "over"]],
      [true, ["live"]],
      [false, ["over"]],
    ] as const) {
      const listed = await client.listSessions({
        username,
        includeTotal: true,
        ...(active !== undefined && { active }),
      });
      expect(ids(listed)).toEqual(expected);
      expect(listed.totalSize).toBe(BigInt(expected.length));
    }
  });

  test("of all keeps within the bytes of a response, and loses none for it", async () => {
    const store = new MemorySessionStore();
    for (let index = 0; index < 40; index++) {
      store.put({
        id: `id${index}`,
        attributeNames: Array.from({ length: 100 }, (_, n) => `attribute-${n}-of-${index}`),
      });
    }
    const maxBytes = 16 * 1024;
    const service = sessionsService(new Sessions(store, { ids: "raw" }), maxBytes);
    const listed: string[] = [];
    let pageToken = "";
    do {
      const request = create(ListSessionsRequestSchema, { pageSize: 40, pageToken });
      const page = (await service.listSessions(request, anybody())) as ListSessionsResponse;
      expect(toBinary(ListSessionsResponseSchema, page).length).toBeLessThanOrEqual(maxBytes);
      expect(page.sessions.length).toBeGreaterThan(0);
      listed.push(...ids(page));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(new Set(listed)).toHaveLength(40);
    expect(listed).toHaveLength(40);
  });

  test("says when the store was not searched to its end, and then has no total", async () => {
    const cutOff = async () => ({ sessions: [session("1")], partial: true });
    const { client } = await serveSessions({ ...fixedStore([]), findByUsername: cutOff, list: cutOff });
    for (const username of ["", "alice"]) {
      const listed = await client.listSessions({ username, includeTotal: true });
      expect([listed.partial, listed.totalSize]).toEqual([true, undefined]);
    }
  });

  test("of all over a store that cannot list is UNIMPLEMENTED with the store's own reason", async () => {
    const { client } = await serveSessions({ ...fixedStore([]), limits: { list: "It has no list." } });
    const error = await failure(client.listSessions({}));
    expect(error).toMatchObject({ code: Code.Unimplemented, rawMessage: "It has no list." });
    expect(errorInfo(error!)?.reason).toBe("LIST_ALL_UNSUPPORTED");
  });

  test("over a store that cannot search by user is UNIMPLEMENTED with the store's own reason", async () => {
    const { findById, delete: remove } = fixedStore([]);
    const limits = { findByUsername: "Files have no index by user." };
    const { client } = await serveSessions({ kind: "file", findById, delete: remove!, limits });
    const error = await failure(client.listSessions({ username: "alice" }));
    expect(error).toMatchObject({ code: Code.Unimplemented, rawMessage: "Files have no index by user." });
    expect(errorInfo(error!)?.reason).toBe("FIND_BY_USERNAME_UNSUPPORTED");
  });
});

describe("DeleteUserSessions", () => {
  async function aliceAndBob() {
    const store = new MemorySessionStore();
    for (const id of ["a1", "a2", "a3"]) store.put({ id, username: "alice" });
    store.put({ id: "b1", username: "bob" });
    return { store, ...(await serveSessions(store)) };
  }

  test("ends all of a user, and none again", async () => {
    const { store, client } = await aliceAndBob();
    expect(await client.deleteUserSessions({ username: "alice" })).toMatchObject({ deleted: 3, partial: false });
    expect(await client.deleteUserSessions({ username: "alice" })).toMatchObject({ deleted: 0, partial: false });
    expect(store.size).toBe(1);
  });

  test("ends all but one", async () => {
    const { store, client } = await aliceAndBob();
    expect((await client.deleteUserSessions({ username: "alice", exceptId: "a2" })).deleted).toBe(2);
    expect(await store.findById("a2")).toBeDefined();
  });

  test.each(["b1", "nope"])("ends nothing where the spared one is %s", async (exceptId) => {
    const { store, client } = await aliceAndBob();
    const error = await failure(client.deleteUserSessions({ username: "alice", exceptId }));
    expect([error?.code, errorInfo(error!)?.metadata]).toEqual([Code.NotFound, { field: "except_id" }]);
    expect(error?.message).not.toContain(exceptId);
    expect(store.size).toBe(4);
  });

  test("needs a name", async () => {
    const { store, client } = await aliceAndBob();
    expect((await failure(client.deleteUserSessions({})))?.code).toBe(Code.InvalidArgument);
    expect(store.size).toBe(4);
  });

  test.each(["findByUsername", "delete"] as const)("is UNIMPLEMENTED with the reason without %s", async (ability) => {
    const { [ability]: _, ...store } = fixedStore([]);
    const { client } = await serveSessions({ ...store, limits: { [ability]: "Not here." } });
    const error = await failure(client.deleteUserSessions({ username: "alice" }));
    expect(error).toMatchObject({ code: Code.Unimplemented, rawMessage: "Not here." });
  });
});

describe("a hash that cannot be resolved", () => {
  test.each(["getSession", "deleteSession"] as const)("%s says so, and what to do", async (method) => {
    const list = async () => ({ sessions: [], partial: true });
    const sessions = new Sessions({ ...fixedStore([]), list }, { idKey: "a key of 16 and more" });
    const { url } = await serveRpc({ sessions });
    const error = await failure(grpcClient(SessionsService, url)[method]({ id: randomUUID() }));
    expect(error).toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringContaining("connect-actuator sessions prepare"),
    });
    expect(errorInfo(error!)?.reason).toBe("SESSION_NOT_RESOLVED");
  });
});

describe("a store", () => {
  test("out of reach is UNAVAILABLE", async () => {
    const gone = async () => {
      throw new ActuatorError("UNAVAILABLE", "STORE_UNREACHABLE", "The store does not answer.");
    };
    const { client, errors } = await serveSessions({ kind: "far", findById: gone, delete: gone });
    expect((await failure(client.getSession({ id: "1" })))?.code).toBe(Code.Unavailable);
    expect(errors).toEqual([]);
  });

  test("that breaks tells the caller nothing and onError everything", async () => {
    const accident = new Error("redis://user:password@store refused");
    const broken = async () => {
      throw accident;
    };
    const { client, errors } = await serveSessions({ kind: "broken", findById: broken, delete: broken });
    const error = await failure(client.getSession({ id: "1" }));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error", details: [] });
    expect(errors).toEqual([{ error: accident, context: "rpc actuator.v3.SessionsService/GetSession" }]);
  });
});
