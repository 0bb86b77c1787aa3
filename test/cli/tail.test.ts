import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../src/adapters/loggers/winston/index.ts";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import { requirement } from "../support/requirement.ts";
import { CliProcess, cli, cliEnv, MAIN } from "./cli-process.ts";
import { scriptFound, typed } from "./terminal.ts";

const GRANTED = { anonymous: ["*", "logs:read"] } as const;
const SHOWN = /^Showing what [^\n]*\n/;

/** An application whose loggers `orders` and `refunds` write to a destination of their own. */
async function open(options: ActuatorOptions = {}) {
  const destination = new PassThrough();
  let written = "";
  destination.setEncoding("utf8").on("data", (text) => {
    written += text;
  });
  const loggerOf = (level: string) =>
    winston.createLogger({ level, transports: [new winston.transports.Stream({ stream: destination })] });
  const [orders, refunds] = [loggerOf("info"), loggerOf("info")];
  const actuator = createActuator({
    name: "shop",
    access: GRANTED,
    audit: false,
    ...options,
    loggers: {
      adapters: [winstonLoggers(orders, { name: "orders" }), winstonLoggers(refunds, { name: "refunds" })],
      logLevelChanges: false,
    },
  });
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return { url, actuator, orders, refunds, written: () => written };
}

/** Runs `loggers tail` until it shows records. */
async function tail({ url }: { readonly url: string }, ...args: string[]): Promise<CliProcess> {
  const child = new CliProcess(["loggers", "tail", "--url", url, ...args]);
  await child.wrote(SHOWN);
  if (args.includes("--raise")) await child.wrote(/Raised to|is shown here only/);
  return child;
}

const recordsOf = ({ stdout }: { readonly stdout: string }) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const messages = (child: { readonly stdout: string }) => recordsOf(child).map(({ message }) => message);

async function interrupted(child: CliProcess) {
  child.signal("SIGINT");
  return child.ended();
}

describe("tail", () => {
  test("writes each record as a line of JSON into a pipe, until Ctrl-C", async () => {
    const shop = await open();
    const child = await tail(shop);
    shop.orders.info("hello\x1b[2J", { order: { id: 4711 } });
    shop.refunds.warn("two\nlines");
    shop.orders.debug("not written");
    await child.wrote(/two/);
    const ended = await interrupted(child);
    expect(ended).toMatchObject({ code: 130, signal: null, stderr: "Showing what 2 loggers write.\n" });
    expect(ended.stdout).not.toContain("\x1b");
    expect(recordsOf(ended)).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: "INFO",
        logger: "orders",
        message: "hello\x1b[2J",
        fields: { order: { id: 4711 } },
        nativeLevel: "info",
        kind: "winston",
      },
      expect.objectContaining({ logger: "refunds", level: "WARN", message: "two\nlines" }),
    ]);
  });

  test("selects records by name, level, text and fields", async () => {
    const shop = await open();
    const words = ["orders", "--level", "warn", "--grep", "CARD", "--field", "order.id=7", "--field", "user=bob"];
    const child = await tail(shop, ...words);
    const right = { order: { id: 7 }, user: "bob" };
    shop.refunds.warn("card of another logger", right);
    shop.orders.info("card of another level", right);
    shop.orders.warn("another text", right);
    shop.orders.warn("card of another order", { ...right, order: { id: 8 } });
    shop.orders.error("the card", right);
    await child.wrote(/the card/);
    expect(messages(await interrupted(child))).toEqual(["the card"]);
  });

  test("is text with --pretty", async () => {
    const shop = await open();
    const child = await tail(shop, "--pretty");
    shop.orders.warn("slow", { user: "bob" });
    await child.wrote(/user/);
    expect((await interrupted(child)).stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}orders: slow\n {4}user: bob\n$/);
  });

  test.runIf(requirement("script, of util-linux,", scriptFound))("is coloured text on a terminal", async () => {
    const shop = await open();
    const child = typed(["loggers", "tail", "orders", "--raise", "debug", "--url", shop.url], { NO_COLOR: "" });
    await child.shows(/Raised to DEBUG/);
    shop.orders.debug("slow\x1b[2J");
    await child.shows(/slow/);
    child.type("\x03");
    const { code, shown } = await child.ended();
    expect(code).toBe(130);
    expect(shown).toContain("\x1b[36mDEBUG\x1b[39m \x1b[1morders\x1b[22m: slow\\u001b[2J\n");
    expect(shown).toMatch(/Restored orders: /);
    expect(shop.orders.level).toBe("info");
  });
});

describe("a level that is raised", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is restored on %s, which is confirmed", async (signal, code) => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug", "--reason", "ticket 812");
    expect([shop.orders.level, shop.refunds.level]).toEqual(["debug", "info"]);
    expect(shop.actuator.loggers!.get("orders")).toMatchObject({ override: { reason: "ticket 812" } });
    shop.orders.debug("found");
    await child.wrote(/found/);
    child.signal(signal);
    const ended = await child.ended();
    expect(ended).toMatchObject({ code, signal: null });
    expect(ended.stderr).toMatch(
      /^Showing what 1 logger writes\.\nRaised to DEBUG for [^\n]+ or until Ctrl-C: orders \(before [a-zA-Z]+\)\nRestored orders: INFO, [a-z]+\n$/,
    );
    expect(shop.orders.level).toBe("info");
  });

  test("is restored when the reader leaves, as head does", async () => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug");
    child.leave();
    const timer = setInterval(() => shop.orders.debug("x"), 20);
    const ended = await child.ended();
    clearInterval(timer);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/\nRestored orders: INFO/) });
    expect(shop.orders.level).toBe("info");
  });

  test.runIf(requirement("script, of util-linux,", scriptFound))(
    "is restored when the terminal is closed",
    async () => {
      const shop = await open();
      const notes = join(temporaryFolder(), "notes");
      const words = [process.execPath, MAIN, "loggers", "tail", "orders", "--raise", "debug", "--url", shop.url];
      const line = `${words.map((word) => `'${word}'`).join(" ")} 2>'${notes}'`;
      const terminal = spawn("script", ["-qec", line, "/dev/null"], {
        env: cliEnv({ TERM: "xterm", NO_COLOR: "1" }),
        stdio: "ignore",
      });
      onTestFinished(() => void terminal.kill("SIGKILL"));
      const noted = () => readFileSync(notes, { encoding: "utf8", flag: "a+" });
      await expect.poll(noted).toMatch(/Raised to DEBUG/);
      // The command waits for the terminal, which then goes away.
      terminal.kill("SIGSTOP");
      for (let i = 0; i < 2_000; i++) shop.orders.info("x".repeat(100));
      await new Promise((resolve) => setTimeout(resolve, 200));
      terminal.kill("SIGKILL");
      await expect.poll(noted).toMatch(/\nRestored orders: INFO[^\n]*\n$/);
      expect(shop.orders.level).toBe("info");
    },
  );

  test("is restored when the command is killed", async () => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug");
    expect(shop.orders.level).toBe("debug");
    child.signal("SIGKILL");
    await expect.poll(() => shop.orders.level).toBe("info");
  });

  test("ends with its time, as the command does", async () => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug", "--for", "1s");
    const ended = await child.ended();
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/ for \d+m?s or until Ctrl-C: orders/) });
    expect(shop.orders.level).toBe("info");
  });

  test("is seen only here with --only-here, and no level changes", async () => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug", "--only-here");
    shop.orders.debug("hidden");
    await child.wrote(/hidden/);
    const ended = await interrupted(child);
    expect(recordsOf(ended)).toMatchObject([{ message: "hidden", onlyHere: true }]);
    expect(ended.stderr).toMatch(/\nDEBUG is shown here only, [^\n]*until Ctrl-C; no level changes\.\n$/);
    expect([shop.written(), shop.orders.level]).toEqual(["", "info"]);
  });

  test("that makes too many records is taken back, which is explained, and the tail goes on", async () => {
    const shop = await open({ logs: { maxRaisedPerSecond: 5 } });
    const child = await tail(shop, "orders", "--raise", "debug");
    for (let i = 0; i < 20; i++) shop.orders.debug("x");
    await child.wrote(/more than 5 records a second\. [^\n]*as they were before\. For less, [^\n]+loggers measure/);
    expect(shop.orders.level).toBe("info");
    shop.orders.info("later");
    await child.wrote(/later/);
    expect((await interrupted(child)).stderr).not.toMatch(/Restored/);
  });

  test("that is overruled ends, and the tail goes on", async () => {
    const shop = await open();
    const child = await tail(shop, "orders", "--raise", "debug");
    shop.actuator.loggers!.setLevel("orders", "ERROR");
    await child.wrote(/Raising to DEBUG has ended: another level was configured meanwhile/);
    shop.orders.error("later");
    await child.wrote(/later/);
    expect(await interrupted(child)).toMatchObject({ code: 130 });
    expect(shop.orders.level).toBe("error");
  });
});

test("says how many records are missing, and why", async () => {
  const shop = await open();
  const child = await tail(shop, "--max-rate", "5");
  for (let i = 0; i < 20; i++) shop.orders.info("x");
  await child.wrote(/\n15 records are missing: too many in a second/);
  expect(messages(await interrupted(child))).toHaveLength(5);
});

test("a reader that does not read is waited for, and a signal restores the level all the same", {
  tags: ["slow"],
}, async () => {
  const shop = await open();
  const child = await tail(shop, "orders", "--raise", "debug", "--max-rate", "100000");
  child.pause();
  const padding = "x".repeat(1_000);
  let sent = 0;
  for (let round = 0; round < 60; round++) {
    for (let i = 0; i < 500; i++) shop.orders.info(`${sent++} ${padding}`);
    await new Promise((resolve) => setTimeout(resolve, 55));
  }
  child.signal("SIGTERM");
  await expect.poll(() => shop.orders.level).toBe("info");
  child.resume();
  const { code, stdout, stderr } = await child.ended();
  expect({ code, stderr }).toEqual({ code: 143, stderr: expect.stringMatching(/\nRestored orders: INFO/) });
  expect(recordsOf({ stdout }).length).toBeLessThan(sent / 2);
});

describe("a connection that is lost", () => {
  test.each(["HTTP/2", "HTTP/1.1"])("is made again over %s: no record twice, none missing", async (protocol) => {
    const shop = await open();
    const proxy = await proxyTo(new URL(shop.url).port, protocol);
    const child = await tail(proxy, "orders", "--raise", "debug");
    for (const round of [1, 2, 3]) {
      shop.orders.debug(`before ${round}`);
      await child.wrote(new RegExp(`before ${round}`));
      proxy.cut();
      // The server may not yet have noticed that the connection ended; without it, the level is as before.
      shop.orders.info(`meanwhile ${round}`);
      await expect.poll(() => child.stderr.match(/Connected again\.\nRaised to DEBUG/g)?.length).toBe(round);
      expect(shop.orders.level).toBe("debug");
      shop.orders.debug(`after ${round}`);
      await child.wrote(new RegExp(`after ${round}`));
    }
    const ended = await interrupted(child);
    expect(messages(ended)).toEqual([1, 2, 3].flatMap((i) => [`before ${i}`, `meanwhile ${i}`, `after ${i}`]));
    expect(ended.stderr).toMatch(/\nThe connection is lost, and tried again: [^\n]+\n/);
    expect(shop.orders.level).toBe("info");
  });

  test("is not raised again if it was overruled", async () => {
    const shop = await open();
    const proxy = await proxyTo(new URL(shop.url).port, "HTTP/2");
    const child = await tail(proxy, "orders", "--raise", "debug");
    shop.actuator.loggers!.setLevel("orders", "WARN");
    await child.wrote(/another level was configured/);
    proxy.cut();
    await child.wrote(/Connected again/);
    expect(shop.orders.level).toBe("warn");
  });

  test("is not waited for if there never was one", async () => {
    expect(await cli(["loggers", "tail", "--url", "http://127.0.0.1:1"])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^connect-actuator: nothing listens at http:\/\/127\.0\.0\.1:1/),
    });
  });
});

test("several instances are merged, and each record names its own", async () => {
  const [one, other] = [await open(), await open()];
  const child = new CliProcess([
    "loggers",
    "tail",
    "orders",
    "--raise",
    "debug",
    "--url",
    one.url,
    "--with",
    other.url,
  ]);
  await expect.poll(() => child.stderr.match(/Raised to DEBUG/g)?.length).toBe(2);
  const expected: string[] = [];
  for (let i = 0; i < 20; i++) {
    const message = `message ${i}`;
    expected.push(message);
    (i % 2 === 0 ? one : other).orders.debug(message);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await child.wrote(/message 19/);
  child.signal("SIGINT");
  const ended = await child.ended();
  expect(ended.code).toBe(130);
  expect(messages(ended)).toEqual(expected);
  const [first, second] = [one, other].map(({ url }) => url.replace("http://", ""));
  expect(new Set(recordsOf(ended).map(({ instance }) => instance))).toEqual(new Set([first, second]));
  for (const label of [first, second]) expect(ended.stderr).toContain(`\n${label}: Restored orders: INFO`);
  expect([one.orders.level, other.orders.level]).toEqual(["info", "info"]);
});

describe("without the permission logs:read", () => {
  test("the command says how it is granted", async () => {
    const { url } = await open({ access: { anonymous: ["*"] } });
    expect(await cli(["loggers", "tail", "--url", url])).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr:
        'connect-actuator: reading what loggers write must be granted: give a token with the permission logs:read, or set the option access: { anonymous: ["*", "logs:read"] }\n',
    });
  });

  test("a token that lacks it is to be replaced", async () => {
    const file = join(temporaryFolder(), "tokens.json");
    const made = await cli(["token", "create", "--name", "alice", "--permission", "*", "--file", file]);
    const token = made.stdout.trim();
    const { url } = await open({ access: { tokens: file } });
    const { code, stderr } = await cli(["loggers", "tail", "--url", url, "--token", token]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /the token lacks the permission logs:read[^\n]+token create[^\n]+--permission '\*' logs:read\n$/,
    );
    expect(stderr).not.toContain(token);
  });
});

test.each([
  [["--only-here"], /--only-here goes with --raise/],
  [["--reason", "x"], /--reason goes with --raise/],
  [["--field", "x"], /Give a field such as order\.id=4711/],
  [["--json", "--pretty"], /--json and --pretty exclude each other/],
  [["--for", "2d"], /from 1ms to 1d/],
  [["--with", "http://127.0.0.1:1"], /named twice/],
])("%j is a wrong command line", async (args, message) => {
  const { code, stderr } = await cli(["loggers", "tail", "--url", "http://127.0.0.1:1", ...args]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A proxy whose connections can be cut. Over HTTP/1.1 it refuses the first bytes of HTTP/2, as many servers do. */
async function proxyTo(port: string, protocol: string) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((near) => {
    sockets.add(near);
    near
      .on("error", () => {})
      .once("data", (bytes) => {
        if (protocol === "HTTP/1.1" && bytes.toString().startsWith("PRI ")) return near.destroy();
        const far = net.connect(Number(port), "127.0.0.1").on("error", () => {});
        far.write(bytes);
        near.pipe(far).pipe(near);
        near.on("close", () => far.destroy());
        return undefined;
      });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}
