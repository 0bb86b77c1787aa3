import { expect, test } from "vitest";
import type { Fault } from "../../src/dashboard/link/messages.ts";
import type { Output } from "../../src/dashboard/link/services.ts";
import { SessionList } from "../../src/dashboard/sessions/session-list.ts";
import type { ListSessionsRequest, Session } from "../../src/gen/actuator/v3/sessions_pb.ts";

type Page = Output<"sessions", "listSessions">;

interface FakeServer {
  ids: string[];
  readonly requests: Partial<ListSessionsRequest>[];
  /** What calls fail with; those without a page token succeed if it is INVALID_ARGUMENT. */
  fault?: Fault | undefined;
  /** Pages without sessions before the first. */
  empty: number;
  readonly list: SessionList;
}

/** A server with these sessions, `size` a page; tokens are positions. */
function serverWith(ids: string[], size = 2): FakeServer {
  const server: FakeServer = {
    ids,
    requests: [],
    empty: 0,
    list: new SessionList(async (asked) => {
      const request = asked as Partial<ListSessionsRequest>;
      const { pageToken = "", includeTotal = false } = request;
      server.requests.push(request);
      const { fault } = server;
      if (fault && (pageToken !== "" || fault.code !== "INVALID_ARGUMENT")) throw Object.assign(new Error(), { fault });
      if (server.empty-- > 0) return pageOf([], "0");
      const from = Number(pageToken);
      const next = from + size < server.ids.length ? String(from + size) : "";
      return pageOf(server.ids.slice(from, from + size), next, includeTotal ? server.ids.length : undefined);
    }),
  };
  return server;
}

function pageOf(ids: readonly string[], nextPageToken: string, total?: number): Page {
  const sessions = ids.map((id) => ({ id, username: "", attributeNames: [], expired: false }) as unknown as Session);
  return { sessions, nextPageToken, partial: false, ...(total !== undefined && { totalSize: BigInt(total) }) } as Page;
}

function idsIn({ state }: SessionList): string {
  return state.value.sessions.map(({ id }) => id).join("");
}

const EVERYTHING = { username: "", active: undefined };

test("older pages follow without a gap, and newer ones come back by their tokens", async () => {
  const { list } = serverWith([..."abcde"]);
  await list.open(EVERYTHING);
  expect([idsIn(list), list.state.value.total, list.state.value.before]).toEqual(["ab", 5, 0]);
  await list.older();
  await list.older();
  expect([idsIn(list), list.state.value.before, list.state.value.hasOlder]).toEqual(["e", 4, false]);
  await list.older();
  expect(list.state.value.page).toBe(3);
  await list.newer();
  expect([idsIn(list), list.state.value.before, list.state.value.total]).toEqual(["cd", 2, 5]);
});

test("a refresh moves no row, counts what is new, and marks what is gone from a whole list", async () => {
  const server = serverWith([..."abc"], 10);
  await server.list.open(EVERYTHING);
  server.ids = [..."xcya"];
  await server.list.refresh();
  const { fresh, gone } = server.list.state.value;
  expect([idsIn(server.list), fresh, [...gone]]).toEqual(["abc", 2, ["b"]]);
  await server.list.newest();
  expect([idsIn(server.list), server.list.state.value.fresh]).toEqual(["xcya", 0]);
});

test("a session that is only on another page by now is not called gone", async () => {
  const server = serverWith([..."abcd"]);
  await server.list.open(EVERYTHING);
  server.ids = [..."xabcd"];
  await server.list.refresh();
  expect([server.list.state.value.fresh, server.list.state.value.gone.size]).toEqual([1, 0]);
});

test("an older page is not refreshed", async () => {
  const server = serverWith([..."abcd"]);
  await server.list.open(EVERYTHING);
  await server.list.older();
  const asked = server.requests.length;
  await server.list.refresh();
  expect(server.requests).toHaveLength(asked);
});

test("a failure keeps what was shown, until the next answer", async () => {
  const server = serverWith([..."ab"]);
  await server.list.open(EVERYTHING);
  server.fault = { code: "UNAVAILABLE", reason: "", message: "no answer", metadata: {} };
  await server.list.refresh();
  expect([idsIn(server.list), server.list.state.value.fault?.message]).toEqual(["ab", "no answer"]);
  server.fault = undefined;
  await server.list.reload();
  expect(server.list.state.value.fault).toBeUndefined();
});

test("a page token that the server no longer takes leads to the first page", async () => {
  const server = serverWith([..."abcd"]);
  await server.list.open(EVERYTHING);
  server.fault = { code: "INVALID_ARGUMENT", reason: "", message: "page_token", metadata: {} };
  await server.list.older();
  expect([idsIn(server.list), server.list.state.value.page]).toEqual(["ab", 1]);
});

test("pages without sessions are passed over", async () => {
  const server = serverWith([..."ab"]);
  server.empty = 3;
  await server.list.open({ username: "", active: false });
  expect(idsIn(server.list)).toBe("ab");
  expect(server.requests.every(({ active }) => active === false)).toBe(true);
});

test("the answer to an earlier request does not replace the present list", async () => {
  const server = serverWith([..."abc"]);
  const first = server.list.open({ username: "alice", active: undefined });
  server.ids = [..."xyz"];
  const second = server.list.open({ username: "bob", active: undefined });
  await Promise.all([first, second]);
  expect(server.requests.map(({ username }) => username)).toEqual(["alice", "bob"]);
  expect(idsIn(server.list)).toBe("xy");
});

test("a last page without sessions is not shown, and no longer offered", async () => {
  const ids = [..."abcd"];
  const list = new SessionList(async (asked) => {
    const { pageToken = "", includeTotal = false } = asked as Partial<ListSessionsRequest>;
    const from = Number(pageToken);
    const page = ids.slice(from, from + 2);
    return pageOf(page, page.length === 2 ? String(from + 2) : "", includeTotal ? ids.length : undefined);
  });
  await list.open(EVERYTHING);
  expect([idsIn(list), list.state.value.hasOlder]).toEqual(["ab", true]);
  await list.older();
  expect([idsIn(list), list.state.value.page, list.state.value.hasOlder]).toEqual(["cd", 2, true]);
  await list.older();
  expect([idsIn(list), list.state.value.page, list.state.value.hasOlder]).toEqual(["cd", 2, false]);
  expect(list.state.value.isLoading).toBe(false);
});
