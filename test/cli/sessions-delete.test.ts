import { describe, expect, test } from "vitest";
import { type ActuatorOptions, memorySessions, type SessionStore } from "../../src/index.ts";
import type { MemorySessionStore } from "../../src/sessions/memory-store.ts";
import { requirement } from "../support/requirement.ts";
import { tokensFor } from "../support/tokens.ts";
import { cli } from "./cli-process.ts";
import { openShop } from "./shop.ts";
import { scriptFound, typed } from "./terminal.ts";

/** Three sessions of Alice, one of Bob. */
async function openLoggedIn(
  around: (store: SessionStore) => SessionStore = (store) => store,
  options: ActuatorOptions = {},
) {
  const store = memorySessions();
  for (const id of ["a1", "a2", "a3"]) store.put({ id, username: "alice" });
  store.put({ id: "b1", username: "bob" });
  const { url } = await openShop({ sessions: { store: around(store), ids: "raw" }, ...options });
  return { url, store };
}

async function idsIn(store: MemorySessionStore): Promise<string[]> {
  return (await store.list({ limit: 100 })).sessions.map(({ id }) => id).sort();
}

/** A store of which no search comes to its end. */
const endless = (store: SessionStore): SessionStore => ({
  kind: "endless",
  findById: (id) => store.findById(id),
  findByUsername: async (name) => ({ ...(await store.findByUsername!(name)), partial: true }),
  delete: (id) => store.delete!(id),
});

describe("the end of a user's sessions", () => {
  test("ends all of the user's sessions, and no others", async () => {
    const { url, store } = await openLoggedIn();
    const end = () => cli(["sessions", "delete", "--user", "alice", "--url", url]);
    expect(await end()).toMatchObject({ code: 0, stdout: "3 sessions of alice ended\n", stderr: "" });
    expect(await idsIn(store)).toEqual(["b1"]);
    expect(await end()).toMatchObject({ code: 0, stdout: "0 sessions of alice ended\n", stderr: "" });
  });

  test.each([
    ["that is typed", "a2", ""],
    ["that is piped in", "-", "\n a2 \n"],
  ])("may spare one %s", async (_, except, input) => {
    const { url, store } = await openLoggedIn();
    const args = ["sessions", "delete", "--user", "alice", "--except", except, "--json", "--url", url];
    const { code, stdout, stderr } = await cli(args, { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ deleted: 2 });
    expect(await idsIn(store)).toEqual(["a2", "b1"]);
  });

  test.each(["b1", "unknown"])("does nothing if the session to spare is not the user's: %s", async (except) => {
    const { url, store } = await openLoggedIn();
    const ended = await cli(["sessions", "delete", "--user", "alice", "--except", except, "--url", url]);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("No session was ended") });
    expect(ended.stderr).not.toContain(except);
    expect(await idsIn(store)).toHaveLength(4);
  });

  test.each([[], ["--json"]])("fails if some may be left, and says so: %j", async (...args) => {
    const { url, store } = await openLoggedIn(endless);
    const ended = await cli(["sessions", "delete", "--user", "alice", ...args, "--url", url]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: "The store could not be searched completely: alice may still have sessions.\n",
    });
    if (args.length > 0) expect(JSON.parse(ended.stdout)).toEqual({ deleted: 3, partial: true });
    else expect(ended.stdout).toBe("3 sessions of alice ended\n");
    expect(await idsIn(store)).toEqual(["b1"]);
  });

  test.each([
    [["--except", "a1"], /takes either/],
    [["a1", "--except", "a2"], /--except goes with --user/],
    [["a1", "--user", "alice"], /takes either/],
    [[], /takes either/],
    [["--user", ""], /cannot be empty/],
    [["--user", "alice", "--except", ""], /cannot be empty/],
    [["--user", "alice", "--except", "-"], /standard input has no id of a session/],
  ])("is not asked of the server with %j", async (args, said) => {
    const { url, store } = await openLoggedIn();
    const ended = await cli(["sessions", "delete", ...args, "--url", url]);
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(said) });
    expect(await idsIn(store)).toHaveLength(4);
  });

  describe.runIf(requirement("script, of util-linux,", scriptFound))("on a terminal", () => {
    test.each([
      ["y", 0, 1],
      [" YES ", 0, 1],
      ["n", 1, 4],
      ["", 1, 4],
      ["yesterday", 1, 4],
    ])("is asked for, and %j is the answer", async (answer, code, left) => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "--user", "alice", "--url", url]);
      await command.shows(/End all 3 sessions of alice\? \[y\/N\] $/);
      expect(await idsIn(store)).toHaveLength(4);
      command.type(`${answer}\n`);
      const ended = await command.ended();
      expect(ended.code).toBe(code);
      expect(ended.shown).toMatch(code === 0 ? /3 sessions of alice ended\n$/ : /No session was ended\.\n$/);
      expect(await idsIn(store)).toHaveLength(left);
    });

    test("is asked for without a number if the caller may delete sessions and not find them", async () => {
      const { file, tokens } = tokensFor({ ops: { permissions: ["sessions:delete"] } });
      const { url, store } = await openLoggedIn(undefined, { access: { tokens: file } });
      const env = { ACTUATOR_TOKEN: tokens.ops };
      const command = typed(["sessions", "delete", "--user", "alice", "--url", url], env);
      await command.shows(/End all sessions of alice\? \[y\/N\] $/);
      command.type("y\n");
      expect((await command.ended()).code).toBe(0);
      expect(await idsIn(store)).toEqual(["b1"]);
    });

    test("is asked for after the id that is spared was typed", async () => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "--user", "alice", "--except", "-", "--url", url]);
      command.type("a3\n");
      await command.shows(/End all 3 sessions of alice but that one\? \[y\/N\] $/);
      command.type("y\n");
      expect(await command.ended()).toMatchObject({
        code: 0,
        shown: expect.stringContaining("2 sessions of alice ended"),
      });
      expect(await idsIn(store)).toEqual(["a3", "b1"]);
    });

    test.each(["--yes", "-y"])("is not asked for with %s", async (yes) => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "--user", "alice", yes, "--url", url]);
      expect(await command.ended()).toEqual({ code: 0, shown: "3 sessions of alice ended\n" });
      expect(await idsIn(store)).toEqual(["b1"]);
    });

    test("is given up by Ctrl-D", async () => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "--user", "alice", "--url", url]);
      await command.shows(/\[y\/N\] $/);
      command.type("\x04");
      expect(await command.ended()).toMatchObject({
        code: 1,
        shown: expect.stringMatching(/\nNo session was ended\.\n$/),
      });
      expect(await idsIn(store)).toHaveLength(4);
    });

    test("of one that is typed needs no Ctrl-D", async () => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "-", "--url", url]);
      command.type("a1\n");
      expect(await command.ended()).toMatchObject({ code: 0, shown: expect.stringContaining("session ended") });
      expect(await idsIn(store)).toEqual(["a2", "a3", "b1"]);
    });

    test("is given up by Ctrl-C", async () => {
      const { url, store } = await openLoggedIn();
      const command = typed(["sessions", "delete", "--user", "alice", "--url", url]);
      await command.shows(/\[y\/N\] $/);
      command.type("\x03");
      expect((await command.ended()).code).toBe(130);
      expect(await idsIn(store)).toHaveLength(4);
    });
  });
});
