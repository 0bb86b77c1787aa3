import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeTokens, editTokens, encodeTokens } from "../../src/access/token-file.ts";
import { complete } from "../../src/cli/complete.ts";
import { createProgram } from "../../src/cli/program.ts";
import { cli } from "../cli/cli-process.ts";
import { requirement } from "../support/requirement.ts";
import { accessWith, bearer, outcome, scratch, tokenFile, tokenOf } from "./fixtures.ts";

const TOKEN = /^ca_[0-9a-f]{12}_[\w-]{43}$/;
const inFolder = () => join(scratch(), "tokens.json");
const token = (words: readonly string[], file: string) => cli(["token", ...words, "--file", file]);
const tokensOf = (file: string) => decodeTokens(readFileSync(file));

describe("token create", () => {
  test("prints a token once that lets its owner in, and keeps its hash in a file for its owner alone", async () => {
    const file = inFolder();
    const words = [
      "create",
      "--name",
      "alice",
      "--permission",
      "loggers:*",
      "info:read",
      "--loggers",
      "orders",
      "audit",
    ];
    const { code, stdout, stderr } = await token([...words, "--expires", "90d"], file);
    expect(code).toBe(0);
    const secret = stdout.trimEnd();
    expect(secret).toMatch(TOKEN);
    expect(stderr).toContain("shown only once");
    expect(stderr).not.toContain(secret.slice(16));
    expect(readFileSync(file, "utf8")).not.toContain(secret.slice(16));
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await outcome(accessWith({ tokens: file }).access, bearer(secret), "loggers:write")).toMatchObject({
      name: "alice",
      permissions: new Set(["loggers:read", "loggers:write", "info:read"]),
      loggers: ["orders", "audit"],
    });
    const [entry] = tokensOf(file);
    const days = (Date.parse(entry!.expires!) - Date.parse(entry!.created!)) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    expect(readdirSync(join(file, ".."))).toEqual(["tokens.json"]);
  });

  test("says all that is known of it as JSON, but not the hash", async () => {
    const file = inFolder();
    const { stdout, stderr } = await token(["create", "--name", "a", "--permission", "*", "--json"], file);
    const answer = JSON.parse(stdout);
    expect(answer).toEqual({ ...answer, token: expect.stringMatching(TOKEN), file, name: "a", permissions: ["*"] });
    expect(answer).not.toHaveProperty("hash");
    expect(stderr).toBe("");
  });

  test.each<[words: string[], code: number, said: RegExp]>([
    [["--permission", "*"], 2, /required option '--name <name>'/],
    [["--name", "a"], 2, /required option '--permission/],
    [["--name", "a", "--permission", "loggers"], 2, /Allowed choices are loggers:read, /],
    [["--name", "a\nb", "--permission", "*"], 2, /printable/],
    [["--name", "a", "--permission", "*", "--loggers", "orders."], 2, /name of a logger/],
    [["--name", "a", "--permission", "*", "--expires", "soon"], 2, /such as 90d/],
    [["--name", "a", "--permission", "*", "--expires", "2020-01-01"], 2, /a future time/],
    [["--name", "a", "--permission", "*", "--expires", "0s"], 2, /a future time/],
    [["--name", "a", "--permission", "*", "--expires", "2027-02-31T99:00Z"], 2, /a future time/],
    [["--name", "taken", "--permission", "*"], 1, /already has a token named taken/],
  ])("%j ends with %i", async (words, code, said) => {
    const file = tokenFile(tokenOf("taken").entry);
    const before = readFileSync(file, "utf8");
    const ended = await token(["create", ...words], file);
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(said) });
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("leaves a file alone that is none of its own", async () => {
    const file = inFolder();
    writeFileSync(file, '{"name":"package"}');
    const ended = await token(["create", "--name", "a", "--permission", "*"], file);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(readFileSync(file, "utf8")).toBe('{"name":"package"}');
  });

  test("takes options once or several times", async () => {
    const file = inFolder();
    const words = ["--name", "a", "--permission", "loggers:*", "--permission", "info:read", "info:read"];
    await token(["create", ...words, "--loggers", "orders", "--loggers", "audit"], file);
    expect(tokensOf(file)).toMatchObject([{ permissions: ["loggers:*", "info:read"], loggers: ["orders", "audit"] }]);
  });

  test("waits for somebody else who changes the file, and says so in the end", async () => {
    const file = inFolder();
    writeFileSync(`${file}.lock`, "");
    const ended = await token(["create", "--name", "a", "--permission", "*"], file);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`${file}.lock exists`) });
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}.lock`), "it is not ours").toBe(true);
  });

  test("by several at once loses none", async () => {
    const file = inFolder();
    const names = ["a", "b", "c", "d", "e"];
    const ended = await Promise.all(names.map((name) => token(["create", "--name", name, "--permission", "*"], file)));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(
      tokensOf(file)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names);
  });
});

describe("token list", () => {
  test("shows tokens with what they may, and no hash", async () => {
    const [alice, old] = [
      tokenOf("alice", { permissions: ["loggers:*", "info:read"], loggers: ["orders"] }),
      tokenOf("old", { expires: "2020-01-01T00:00:00Z" }),
    ];
    const file = tokenFile(alice.entry, old.entry);
    const { stdout } = await token(["list"], file);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["NAME", "PERMISSIONS", "LOGGERS", "EXPIRES"],
      ["alice", "loggers:* info:read", "orders", "never"],
      ["old", "*", "all", "expired 2020-01-01T00:00:00Z"],
      [""],
    ]);
    const json = (await token(["list", "--json"], file)).stdout;
    expect(JSON.parse(json).tokens).toMatchObject([
      { name: "alice", id: alice.entry.id, expired: false },
      { name: "old", expired: true },
    ]);
    expect(json).not.toContain("sha256");
  });

  test("of a file that is not there says so", async () => {
    expect(await token(["list"], inFolder())).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("does not exist"),
    });
  });
});

describe("token revoke", () => {
  test("takes one out and leaves the others", async () => {
    const [alice, bob] = [tokenOf("alice"), tokenOf("bob")];
    const file = tokenFile(alice.entry, bob.entry);
    expect(await token(["revoke", "alice"], file)).toMatchObject({ code: 0, stdout: "", stderr: "revoked alice\n" });
    expect(tokensOf(file)).toEqual([bob.entry]);
    expect(JSON.parse((await token(["revoke", "bob", "--json"], file)).stdout)).toEqual({ revoked: "bob", file });
    expect(tokensOf(file)).toEqual([]);
  });

  test("of a name that is not there says which is like it", async () => {
    const file = tokenFile(tokenOf("alice").entry);
    expect(await token(["revoke", "alise"], file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did you mean "alice"?'),
    });
    expect(await token(["revoke", "x"], inFolder())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("does not exist"),
    });
  });
});

test("permissions are completed", async () => {
  const live = { loggers: async () => ["orders"], processes: async () => [] };
  const offered = await complete(createProgram(), ["token", "create", "--permission", "sessions:"], live);
  expect(offered.map(({ value }) => value)).toEqual([
    "sessions:read",
    "sessions:list",
    "sessions:delete",
    "sessions:*",
  ]);
  expect(await complete(createProgram(), ["token", "revoke", "o"], live), "a token is no logger").toEqual([]);
});

describe.runIf(requirement("POSIX permissions", process.platform !== "win32"))(
  "a file of tokens that is changed",
  () => {
    test("keeps its mode, and stays where a link leads", async () => {
      const file = tokenFile();
      chmodSync(file, 0o640);
      const link = join(scratch(), "link.json");
      symlinkSync(file, link);
      await editTokens(link, () => [tokenOf("alice").entry]);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      expect(tokensOf(file)).toHaveLength(1);
    });

    test.runIf(requirement("a run as root", process.getuid?.() === 0))(
      "by root still belongs to whom it belonged",
      async () => {
        const { chownSync } = await import("node:fs");
        const file = tokenFile();
        chownSync(file, 12345, 12345);
        await editTokens(file, () => [tokenOf("alice").entry]);
        expect(statSync(file)).toMatchObject({ uid: 12345, gid: 12345 });
      },
    );

    test("is never seen in halves", async () => {
      const entries = Array.from({ length: 200 }, (_, i) => tokenOf(`t${i}`).entry);
      const file = tokenFile(...entries);
      let done = false;
      const editing = (async () => {
        for (let i = 0; i < 20; i++)
          await editTokens(file, (tokens) => (tokens.length > 100 ? entries.slice(0, 50) : entries));
        done = true;
      })();
      while (!done) {
        expect([50, 200]).toContain(tokensOf(file).length);
        await new Promise(setImmediate);
      }
      await editing;
    });

    test("in a way that could not be read again stays as it was, and unlocked", async () => {
      const file = tokenFile();
      const { entry } = tokenOf("alice");
      await expect(editTokens(file, () => [entry, entry])).rejects.toThrow("tokens[1] has the same name as tokens[0]");
      expect(readFileSync(file, "utf8")).toBe(encodeTokens([]));
      await editTokens(file, () => [entry]);
    });
  },
);
