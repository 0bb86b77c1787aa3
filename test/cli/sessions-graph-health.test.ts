import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ListSessionsResponseSchema } from "../../src/gen/actuator/v3/sessions_pb.ts";
import { memorySessions } from "../../src/index.ts";
import { cli } from "./cli-process.ts";
import { openGuardedShop, openShop } from "./shop.ts";

const lines = (text: string) => text.trimEnd().split("\n");
const TIME = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g;

describe("sessions", () => {
  test("list shows those of a user", async () => {
    const { url } = await openShop();
    const { code, stdout } = await cli(["sessions", "list", "alice", "--url", url]);
    expect(code).toBe(0);
    expect(lines(stdout.replace(TIME, "2026-01-01 00:00:00").replace(/in \d+m \d+s/, "in 29m 59s"))).toEqual([
      "ID             LAST USED            CREATED              ENDS        ATTRIBUTES",
      "alice-session  2026-01-01 00:00:00  2026-01-01 00:00:00  in 29m 59s  cart, user",
    ]);
  });

  test("list of a user without sessions says so on standard error", async () => {
    const { url } = await openShop();
    const ended = await cli(["sessions", "list", "carol", "--url", url]);
    expect(ended).toMatchObject({ code: 0, stdout: "", stderr: "No session of carol.\n" });
  });

  test("list as JSON has all pages", async () => {
    const sessions = memorySessions();
    for (let i = 0; i < 1_234; i++) sessions.put({ username: "alice" });
    const { url } = await openShop({ sessions });
    const { stdout } = await cli(["sessions", "list", "alice", "--json", "--url", url]);
    const found = fromJson(ListSessionsResponseSchema, JSON.parse(stdout));
    expect(new Set(found.sessions.map(({ id }) => id)).size).toBe(1_234);
  });

  test("get shows one, its id from the command line or from standard input", async () => {
    const { url } = await openShop();
    const asked = await cli(["sessions", "get", "alice-session", "--url", url]);
    expect(lines(asked.stdout)).toEqual([
      "alice-session",
      "  user          alice",
      expect.stringMatching(/^ {2}created {7}\d{4}-/),
      expect.stringMatching(/^ {2}last used {5}\d{4}-/),
      expect.stringMatching(/^ {2}ends {10}in \d+m/),
      "  attributes    cart, user",
    ]);
    const piped = await cli(["sessions", "get", "-", "--url", url], { input: "\nalice-session\n" });
    expect(lines(piped.stdout)[1]).toBe(lines(asked.stdout)[1]);
  });

  test("get of what does not exist does not repeat the id", async () => {
    const { url } = await openShop();
    const ended = await cli(["sessions", "get", "unknown-id", "--url", url]);
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "connect-actuator: the server says: No session has this id.\n",
    });
  });

  test("delete ends one, and fails if there is none", async () => {
    const { url, actuator } = await openShop();
    const end = () => cli(["sessions", "delete", "--url", url, "--", "-bobs"]);
    expect(await end()).toMatchObject({ code: 0, stdout: "session ended\n", stderr: "" });
    const again = { code: 1, stdout: "", stderr: expect.stringContaining("there was no such session") };
    expect(await end()).toMatchObject(again);
    expect(await actuator.sessions!.find("-bobs")).toBeUndefined();
  });
});

describe("health", () => {
  test.each([
    ["of the process", []],
    ["of a service", ["actuator.v3.LoggersService"]],
  ])("%s that serves is 0", async (_, args) => {
    const { url } = await openShop();
    expect(await cli(["health", ...args, "--url", url])).toMatchObject({ code: 0, stdout: "SERVING\n", stderr: "" });
  });

  test("that does not serve any more is 1", async () => {
    const { url, actuator } = await openGuardedShop("t");
    await actuator.close();
    expect(await cli(["health", "--url", url, "--token", "t"])).toMatchObject({
      code: 1,
      stdout: "NOT_SERVING\n",
      stderr: "",
    });
  });

  test("of a service that does not exist is 1, with the reason", async () => {
    const { url } = await openShop();
    const unknown = await cli(["health", "actuator.v3.Nothing", "--url", url]);
    expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/The service is unknown/) });
  });
});
