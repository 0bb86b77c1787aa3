import { spawn } from "node:child_process";
import { once } from "node:events";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ListSessionsResponseSchema } from "../../src/gen/actuator/v3/sessions_pb.ts";
import { memorySessions, type SessionStore } from "../../src/index.ts";
import { requirement } from "../support/requirement.ts";
import { cli, cliEnv, MAIN } from "./cli-process.ts";
import { openShop } from "./shop.ts";
import { scriptFound, typed } from "./terminal.ts";

const lines = (text: string) => text.trimEnd().split("\n");

/** Alice has two sessions, Bob one, a guest one; Alice's older one has expired. The latest used comes first. */
function sessionsOfThree() {
  const store = memorySessions();
  const now = Date.now();
  const used = (seconds: number) => now - seconds * 1000;
  store.put({ id: "a-old", username: "alice", lastAccessedTime: used(100), maxInactiveInterval: 60 });
  store.put({ id: "a-new", username: "alice", lastAccessedTime: used(10), attributeNames: ["cart"] });
  store.put({ id: "b", username: "bob", lastAccessedTime: used(20) });
  store.put({ id: "n", lastAccessedTime: used(30) });
  return { store, ids: "raw" } as const;
}

/** A store whose searches are incomplete. */
function cutOff(store: SessionStore): SessionStore {
  return {
    kind: "cut off",
    findById: (id) => store.findById(id),
    findByUsername: async (name) => ({ ...(await store.findByUsername!(name)), partial: true }),
    list: async (query) => ({ ...(await store.list!(query)), partial: true }),
    delete: (id) => store.delete!(id),
  };
}

describe("the list", () => {
  const first = (stdout: string) => lines(stdout).map((line) => line.split(/ {2,}/).slice(0, 2));

  test("of all users shows the user of each session, the latest used first", async () => {
    const { url } = await openShop({ sessions: sessionsOfThree() });
    const { code, stdout, stderr } = await cli(["sessions", "list", "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(lines(stdout)[0]).toMatch(/^ID +USER +LAST USED +CREATED +ENDS +ATTRIBUTES$/);
    expect(lines(stdout)).toHaveLength(5);
    expect(first(stdout).slice(1, 3)).toEqual([
      ["a-new", "alice"],
      ["b", "bob"],
    ]);
    expect(lines(stdout)[3]).toMatch(/^n {12,}\d{4}-/);
    expect(first(stdout)[4]).toEqual(["a-old", "alice"]);
    expect(lines(stdout)[4]).toMatch(/ expired$/);
  });

  test.each([
    [["--active"], ["a-new", "b", "n"]],
    [["--expired"], ["a-old"]],
    [
      ["--limit", "2"],
      ["a-new", "b"],
    ],
    [["-n", "1", "--active"], ["a-new"]],
    [["alice", "--active"], ["a-new"]],
    [["alice", "--expired"], ["a-old"]],
    [["alice", "--limit", "1"], ["a-new"]],
  ])("with %j is %j", async (args, ids) => {
    const { url } = await openShop({ sessions: sessionsOfThree() });
    const { stdout } = await cli(["sessions", "list", ...args, "--url", url]);
    expect(
      first(stdout)
        .slice(1)
        .map(([id]) => id),
    ).toEqual(ids);
    const json = await cli(["sessions", "list", ...args, "--json", "--url", url]);
    const found = fromJson(ListSessionsResponseSchema, JSON.parse(json.stdout));
    expect(found.sessions.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    [["carol"], "No session of carol.\n"],
    [["bob", "--expired"], "No expired session of bob.\n"],
    [["bob", "--active", "--json"], ""],
  ])("that has none, with %j, says so on the side", async (args, stderr) => {
    const { url } = await openShop({ sessions: sessionsOfThree() });
    const ended = await cli(["sessions", "list", ...args, "--url", url]);
    expect(ended).toMatchObject({ code: 0, stderr });
  });

  test("of more than a page is whole, as a table and as JSON", async () => {
    const store = memorySessions();
    for (let i = 0; i < 2_345; i++) store.put({ id: `id-${i}`, username: i % 2 === 0 ? "alice" : "bob" });
    const { url } = await openShop({ sessions: { store, ids: "raw" } });
    const all = await cli(["sessions", "list", "--url", url]);
    expect(new Set(lines(all.stdout).map((line) => line.split(" ")[0])).size).toBe(2_346);
    const { stdout } = await cli(["sessions", "list", "--json", "--url", url]);
    const found = fromJson(ListSessionsResponseSchema, JSON.parse(stdout));
    expect(new Set(found.sessions.map(({ id }) => id)).size).toBe(2_345);
    expect(JSON.stringify(JSON.parse(stdout), null, 2)).toBe(stdout.trimEnd());
    const limited = await cli(["sessions", "list", "--limit", "1500", "--url", url]);
    expect(lines(limited.stdout)).toHaveLength(1_501);
  });

  test.each([
    ["no more than is asked for", ["--limit", "1000"], "cat", 1],
    ["no more when its reader has left", [], "head -n 3", 2],
  ])("is written as it comes, and asks for %s", async (_, options, reader, most) => {
    const store = memorySessions();
    for (let i = 0; i < 3_000; i++) store.put({});
    let pages = 0;
    const counting: SessionStore = {
      kind: "counting",
      findById: async () => undefined,
      list: (query) => {
        pages++;
        return store.list(query);
      },
    };
    const { url } = await openShop({ sessions: { store: counting, ids: "raw" } });
    const line = `set -o pipefail; "$0" "$@" | ${reader}`;
    const args = ["-c", line, process.execPath, MAIN, "sessions", "list", ...options, "--url", url];
    const child = spawn("bash", args, { env: cliEnv({}), stdio: ["ignore", "ignore", "inherit"] });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(pages).toBeLessThanOrEqual(most);
  });

  test.each([["alice"], []])("that is incomplete says so: %j", async (...args) => {
    const { store } = sessionsOfThree();
    const { url } = await openShop({ sessions: { store: cutOff(store), ids: "raw" } });
    const cut = "The store could not be searched completely: sessions may be missing.\n";
    expect(await cli(["sessions", "list", ...args, "--url", url])).toMatchObject({ code: 0, stderr: cut });
    const json = await cli(["sessions", "list", ...args, "--json", "--url", url]);
    expect(JSON.parse(json.stdout)).toMatchObject({ partial: true, sessions: { length: args.length === 0 ? 4 : 2 } });
  });

  test("that the store does not have is refused with the reason, and a way on", async () => {
    const limits = { list: "The store has no list." };
    const store: SessionStore = { kind: "x", findById: async () => undefined, limits };
    const { url } = await openShop({ sessions: { store, ids: "raw" } });
    const { code, stderr } = await cli(["sessions", "list", "--url", url]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "connect-actuator: the server says: The store has no list. For one user: connect-actuator sessions list <username>\n",
    );
  });

  test("of an empty username is not the list of all users", async () => {
    const { url } = await openShop({ sessions: sessionsOfThree() });
    expect(await cli(["sessions", "list", "", "--url", url])).toMatchObject({ code: 2, stdout: "" });
  });

  describe.runIf(requirement("script, of util-linux,", scriptFound))("on a terminal", () => {
    test.each([
      [[], "4 sessions"],
      [["--active"], "3 active sessions"],
      [["--limit", "3"], "3 of 4 sessions"],
      [["bob"], "1 session"],
      [["alice", "--limit", "1"], "1 of 2 sessions"],
    ])("with %j ends with the count: %s", async (args, count) => {
      const { url } = await openShop({ sessions: sessionsOfThree() });
      const { code, shown } = await typed(["sessions", "list", ...args, "--url", url]).ended();
      expect(code).toBe(0);
      expect(lines(shown).at(-1)!.trim()).toBe(count);
    });
  });
});
