// @module-tag slow
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { complete, type LiveNames } from "../../src/cli/complete.ts";
import { createProgram } from "../../src/cli/program.ts";
import { requirement } from "../support/requirement.ts";
import { cli, cliEnv, MAIN } from "./cli-process.ts";
import { openShop, type Shop } from "./shop.ts";

const NAMES = [
  "ROOT",
  "orders",
  "orders.payment",
  "refunds",
  "@nestjs.core",
  "$(touch x)",
  "a b",
  "a;b",
  "-rf",
  "`x`",
  "a'b",
];
const live: LiveNames = {
  loggers: async () => NAMES,
  processes: async (by) => (by === "pid" ? ["4711", "4712-1"] : ["shop", "@shop/web", "$(touch x)"]),
};

async function values(words: readonly string[], names = live): Promise<string[]> {
  const candidates = await complete(createProgram(), words, names);
  return candidates.map(({ value }) => value);
}

describe("a word", () => {
  test.each([
    [
      [""],
      [
        "loggers",
        "fleet",
        "sessions",
        "graph",
        "health",
        "mcp",
        "ps",
        "attach",
        "detach",
        "token",
        "config",
        "serve",
        "completion",
      ],
    ],
    [["lo"], ["loggers"]],
    [["loggers", "re"], ["restore"]],
    [["--json", "--url", "http://x:1", "loggers", "res"], ["restore"]],
    [
      ["loggers", "set", "--fo"],
      ["--for", "--forever"],
    ],
    [["loggers", "set", "--u"], ["--url"]],
    [
      ["loggers", "get", "orders"],
      ["orders", "orders.payment"],
    ],
    [["loggers", "get", "orders", ""], []],
    [
      ["loggers", "tail", "refunds", "--raise", "debug", "ord"],
      ["orders", "orders.payment"],
    ],
    [["loggers", "tail", "--raise", "d"], ["debug"]],
    [["loggers", "measure", "ref"], ["refunds"]],
    [
      ["loggers", "list", "refunds", "ord"],
      ["orders", "orders.payment"],
    ],
    [["loggers", "set", "--for", "1m", "orders", "d"], ["debug"]],
    [
      ["loggers", "set", "orders", "debug", "--for", "1"],
      ["10m", "1h", "1d"],
    ],
    [["loggers", "set", "orders", "debug", "--for=3"], ["--for=30m"]],
    [
      ["graph", "--format", ""],
      ["text", "json", "dot", "mermaid", "svg", "asyncapi"],
    ],
    [
      ["graph", "--watch", "--interval", "1"],
      ["1s", "10s", "1m"],
    ],
    [["graph", "--with", ""], []],
    [["graph", "--format=j"], ["--format=json"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["sessions", "get", ""], []],
    [
      ["sessions", ""],
      ["list", "get", "delete", "prepare"],
    ],
    [["sessions", "list", "--a"], ["--active"]],
    [
      ["sessions", "delete", "--user", "alice", "--"],
      [
        "--user",
        "--except",
        "--yes",
        "--help",
        "--version",
        "--url",
        "--pid",
        "--name",
        "--token",
        "--ca",
        "--cert",
        "--key",
        "--json",
        "--timeout",
      ],
    ],
    [["sessions", "delete", "--user", ""], []],
    [["sessions", "prepare", "--postgres", "--dr"], ["--dry-run"]],
    [
      ["sessions", "prepare", "--re"],
      ["--redis", "--remove", "--restart"],
    ],
    [["--url", ""], []],
    [
      ["--pid", ""],
      ["4711", "4712-1"],
    ],
    [["loggers", "list", "--name=s"], ["--name=shop"]],
    [
      ["loggers", "list", "--name", ""],
      ["shop", "@shop/web"],
    ],
    [["token", "create", "--name", ""], []],
    [["detach", "4712"], ["4712-1"]],
    [["nonsense", ""], []],
  ])("after %j may become %j", async (words, expected) => expect(await values(words)).toEqual(expected));

  test("that a shell would take for code is never offered", async () => {
    expect(await values(["loggers", "get", ""])).toEqual([
      "ROOT",
      "orders",
      "orders.payment",
      "refunds",
      "@nestjs.core",
    ]);
    expect(await values(["loggers", "get", "--", ""])).not.toContain("-rf");
  });

  test("is asked of the server that the line names", async () => {
    const asked: unknown[] = [];
    const loggers: LiveNames["loggers"] = async (...args) => {
      asked.push(args);
      return [];
    };
    await values(["--url", "http://x:1", "--token=t", "loggers", "get", "or"], { ...live, loggers });
    expect(asked).toEqual([["or", { url: "http://x:1", token: "t" }]]);
  });
});

test("without a server there are no names, soon, and no error", async () => {
  const mute = net.createServer((socket) => socket.on("error", () => {}));
  await once(mute.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void mute.close());
  const { port } = mute.address() as net.AddressInfo;
  for (const url of ["http://127.0.0.1:1", `http://127.0.0.1:${port}`, "not an address"]) {
    const ended = await cli(["__complete", "--url", url, "loggers", "get", ""]);
    expect(ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
  }
});

describe("a real shell", () => {
  let bin: string;
  const has = (program: string) => spawnSync(program, ["-c", "true"]).status === 0;

  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), "connect-actuator-bin-"));
    const program = join(bin, "connect-actuator");
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    await chmod(program, 0o755);
  });
  afterAll(() => rm(bin, { recursive: true, force: true }));

  /** The command waits for names less than a second, as is right for a TAB: on a busy machine the next one may have them. */
  const offers = (press: () => Promise<readonly string[]>, expected: readonly string[]) =>
    expect.poll(press).toEqual(expected);

  async function run({ url }: Shop, program: string, args: readonly string[]): Promise<string> {
    const env = cliEnv({ ACTUATOR_URL: url, PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: bin, TERM: "dumb" });
    const { stdout } = await promisify(execFile)(program, args, { env, timeout: 30_000, cwd: bin });
    return stdout;
  }

  const CASES: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["connect-actuator loggers s", ["set"]],
    ["connect-actuator loggers get orders.", ["orders.payment", "orders.payment.cards"]],
    ["connect-actuator --url @ loggers get ref", ["refunds"]],
    ["connect-actuator loggers set orders w", ["warn"]],
    ["connect-actuator graph --format ", ["asyncapi", "dot", "json", "mermaid", "svg", "text"]],
  ];

  describe.runIf(requirement("bash", has("bash")))("bash", () => {
    /** What bash calls when TAB is pressed at the end of the line, as its manual says. */
    const PRESS_TAB = `
      eval "$(connect-actuator completion bash)"
      complete -p connect-actuator >/dev/null || exit
      COMP_LINE=$1 COMP_POINT=\${#1}
      _connect_actuator
      printf '%s\\n' "\${COMPREPLY[@]}"`;

    test.each([...CASES, ["connect-actuator graph --format=t", ["text"]] as const])("%s", async (line, expected) => {
      const shop = await openShop();
      const args = ["-c", PRESS_TAB, "bash", line.replace("@", shop.url)];
      await offers(async () => (await run(shop, "bash", args)).split("\n").filter(Boolean).sort(), expected);
    });
  });

  describe.runIf(requirement("fish", has("fish")))("fish", () => {
    test.each(CASES)("%s", async (line, expected) => {
      const shop = await openShop();
      const code = `connect-actuator completion fish | source; complete -C '${line.replace("@", shop.url)}'`;
      await offers(async () => {
        const printed = (await run(shop, "fish", ["--no-config", "-c", code])).split("\n").filter(Boolean);
        return printed.map((each) => each.split("\t")[0]!).sort();
      }, expected);
    });
  });

  describe.runIf(requirement("zsh", has("zsh")))("zsh", () => {
    /** Types into a zsh on a terminal of its own, and prints what that has written once the command is done. */
    const TYPE = `
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'autoload -Uz compinit; compinit -u -D; eval "$(connect-actuator completion zsh)"; bindkey "^I" complete-word'
      zpty -w z 'print REA""DY'
      zpty -r -m z seen '*READY*'
      zpty -w -n z $'connect-actuator loggers se\\t stock.p\\t deb\\t --for 5m\\n'
      zpty -r -m z seen '*before*'
      print -r -- $seen
      zpty -d z`;

    test("completes a whole line, word by word", async () => {
      const shop = await openShop();
      const type = () => run(shop, "zsh", ["-f", "-c", TYPE]).catch(String);
      await expect.poll(type, { timeout: 50_000 }).toContain("stock.payment: DEBUG, until");
    });
  });
});
