import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requirement } from "../support/requirement.ts";
import { SampleProcess } from "./sample-process.ts";

const runsTypeScript = requirement("a Node.js that runs TypeScript", Boolean(process.features.typescript));
const FREE_PORTS = ["--port", "0", "--shop-port", "0"];

interface Running {
  readonly process: SampleProcess;
  readonly actuator: string;
  readonly shop: string;
}

async function startSample(...args: string[]): Promise<Running> {
  const process = new SampleProcess([...FREE_PORTS, ...args]);
  const [, shop, actuator] = await process.printed(/shop +(http:\S+).*\n.*actuator +(http:\S+).*\n/);
  await process.printed(/Its log:\n/);
  return { process, actuator: `${actuator}/actuator`, shop: shop! };
}

// biome-ignore lint/suspicious/noExplicitAny: what an answer has in it is what the tests check
type Json = any;

async function json(url: string): Promise<Json> {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.json();
}

function setLevel(actuator: string, name: string, configuredLevel: string | null): Promise<Response> {
  return fetch(`${actuator}/loggers/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ configuredLevel }),
  });
}

async function postForm(url: string, form: Record<string, string>, cookie = ""): Promise<Response> {
  return fetch(url, { method: "POST", body: new URLSearchParams(form), headers: { cookie } });
}

function cookieOf(response: Response): string {
  return response.headers.getSetCookie()[0]!.split(";", 1)[0]!;
}

describe.runIf(runsTypeScript)("an operator", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startSample("--no-traffic");
  });
  afterAll(() => running?.process.kill());

  async function order(): Promise<number> {
    const cookie = cookieOf(await postForm(`${running.shop}/cart`, { product: "pear" }));
    const answer = await postForm(`${running.shop}/orders`, {}, cookie);
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { number: number }).number;
  }

  it("is told the address of the page first, and finds it there", async () => {
    const [first] = /http:\S+/.exec(running.process.stdout)!;
    expect(first).toBe(`${running.actuator}/ui/`);
    const page = await fetch(first);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="app">')]);
  });

  it("finds everything that the index names", async () => {
    const { _links: links } = await json(running.actuator);
    const names = [
      "health",
      "info",
      "integrationgraph",
      "loggers",
      "loggers-name",
      "mcp",
      "self",
      "sessions",
      "sessions-sessionId",
    ];
    expect(Object.keys(links).sort()).toEqual(names);
    expect(await json(links.health.href)).toEqual({ status: "UP" });
    expect(JSON.stringify(await json(links.info.href))).toContain("shop");
  });

  it("sees the application's own loggers, ten and more, in a hierarchy", async () => {
    const { loggers, groups } = await json(`${running.actuator}/loggers`);
    expect(Object.keys(loggers).length).toBeGreaterThan(10);
    expect(loggers.ROOT).toEqual({ configuredLevel: "INFO", effectiveLevel: "INFO" });
    for (const name of ["shop", "shop.orders", "shop.orders.payment", "shop.web", "traffic.visits"]) {
      expect(loggers[name], name).toEqual({ effectiveLevel: "INFO" });
    }
    expect(Object.keys(groups)).toEqual(expect.arrayContaining(["web", "money"]));
  });

  it("changes a level, and the next order is logged; changes it back, and the one after is not", async () => {
    await order();
    expect(running.process.stdout).not.toContain("order received");
    expect((await setLevel(running.actuator, "shop.orders", "debug")).status).toBe(204);
    const loud = await order();
    await running.process.printed(new RegExp(`"level":"debug".*"name":"shop.orders","order":${loud},.*order received`));
    await running.process.printed(new RegExp(`"level":"debug".*"name":"shop.orders.payment","order":${loud},`));
    expect((await setLevel(running.actuator, "shop.orders", null)).status).toBe(204);
    const quiet = await order();
    expect((await setLevel(running.actuator, "shop.orders", "DEBUG")).status).toBe(204);
    const last = await order();
    await running.process.printed(new RegExp(`"order":${last},`));
    expect(running.process.stdout).not.toMatch(new RegExp(`"order":${quiet},.*order received`));
    await setLevel(running.actuator, "shop.orders", null);
  });

  it("changes a group, and each member follows", async () => {
    await setLevel(running.actuator, "money", "TRACE");
    const { configuredLevel, members } = await json(`${running.actuator}/loggers/money`);
    expect(configuredLevel).toBe("TRACE");
    for (const member of members) {
      expect((await json(`${running.actuator}/loggers/${member}`)).effectiveLevel, member).toBe("TRACE");
    }
    await setLevel(running.actuator, "money", null);
  });

  it("finds who is logged in, and logs them out", async () => {
    const cookie = cookieOf(await postForm(`${running.shop}/login`, { username: "carol" }));
    const account = () => fetch(`${running.shop}/account`, { headers: { cookie } });
    expect(await (await account()).json()).toEqual({ username: "carol", cart: [] });
    const { sessions } = await json(`${running.actuator}/sessions?username=carol`);
    expect(sessions).toEqual([
      {
        id: expect.any(String),
        attributeNames: ["user"],
        creationTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastAccessedTime: expect.any(String),
        maxInactiveInterval: 900,
        expired: false,
      },
    ]);
    const url = `${running.actuator}/sessions/${sessions[0].id}`;
    expect(await json(url)).toEqual(sessions[0]);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(204);
    expect((await fetch(url)).status).toBe(404);
    expect((await account()).status).toBe(401);
    expect(running.process.stdout).not.toContain(sessions[0].id);
  });

  it("sees the path of an order with live numbers", async () => {
    const graph = () => json(`${running.actuator}/integrationgraph`);
    const sent = ({ nodes }: Json, name: string) =>
      nodes.find((node: Json) => node.name === name).sendTimers.successes.count;
    const before = await graph();
    await order();
    const after = await graph();
    expect(sent(after, "orders")).toBe(sent(before, "orders") + 1);
    const atPostOffice = async () => sent(await graph(), "post-office");
    await expect.poll(atPostOffice).toBe(sent(after, "orders"));
    const types = after.nodes.map((node: { integrationPatternType: string }) => node.integrationPatternType);
    for (const type of ["inbound_gateway", "message_channel", "filter", "router", "splitter", "aggregator"]) {
      expect(types).toContain(type);
    }
    const links = new Set(after.links.map((link: { type: string }) => link.type));
    expect([...links].sort()).toEqual(["discard", "error", "input", "output", "route"]);
  });

  /** What it prints of an order. */
  async function tailed(command: string): Promise<string> {
    const answer = shell(`${command} --for 3s`);
    const levelOf = async () => (await json(`${running.actuator}/loggers/shop.orders.payment`)).configuredLevel;
    await expect.poll(levelOf).toBe("DEBUG");
    await order();
    return answer;
  }

  it("pastes the printed lines, and each of them works", async () => {
    const lines = running.process.stdout.split("\n").map((line) => line.trim());
    const commands = lines.filter((line) => line.startsWith("npx "));
    expect(commands.length).toBeGreaterThan(4);
    const answers: string[] = [];
    // One after the other, as an operator does: the second one changes what the first one shows.
    for (const command of commands) answers.push(await (command.includes(" tail ") ? tailed(command) : shell(command)));
    expect(answers.find((answer) => answer.includes('"logger":"shop.orders.payment"'))).toContain('"level":"DEBUG"');
    expect(answers[0]).toMatch(/\n {4}shop\.orders +INFO +inherited\n/);
    expect(answers[1]).toMatch(/^shop\.orders: DEBUG, until/);
    const curl = lines.filter((line) => line.startsWith("curl "));
    expect(curl).toHaveLength(1);
    const answer = await shell(curl[0]!.replace("curl ", "curl --fail --silent --show-error "));
    expect(JSON.parse(answer)).toEqual({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
    await setLevel(running.actuator, "shop.orders", null);
  });
});

describe.runIf(runsTypeScript)("the sample's own traffic", () => {
  it("keeps a visitor logged in, who comes back when an operator ends the session", async () => {
    const { process, actuator } = await startSample();
    try {
      await process.printed(/"username":"alice","msg":"came in"/);
      const { sessions } = await json(`${actuator}/sessions?username=alice`);
      expect(sessions).toHaveLength(1);
      await fetch(`${actuator}/sessions/${sessions[0].id}`, { method: "DELETE" });
      await process.printed(/"username":"alice","msg":"was logged out by an operator"/);
      await process.printed(/"username":"alice","msg":"came in".*"username":"alice","msg":"came in"/s);
    } finally {
      await process.kill();
    }
  });
});

describe.runIf(runsTypeScript)("the command line", () => {
  it.each(["--help", "-h"])("%s explains every option", async (option) => {
    const sample = new SampleProcess([option]);
    expect(await sample.ended()).toEqual({ code: 0, signal: null });
    for (const name of ["--port", "--host", "--shop-port", "--no-traffic", "--help"])
      expect(sample.stdout).toContain(name);
  });

  it.each([
    [["--colour"], {}, /'--colour'.*--help/],
    [["extra"], {}, /'extra'.*--help/],
    [["--port"], {}, /--port.*argument missing.*--help/],
    [["--port", "70000"], {}, /--port takes a whole number from 0 to 65535, not "70000"/],
    [["--shop-port", "1e3"], {}, /--shop-port takes/],
    [[], { PORT: "many" }, /PORT takes/],
    [[...FREE_PORTS, "--host", "0.0.0.0"], {}, /refused to listen on "0.0.0.0".*access control.*--host/],
    [[...FREE_PORTS, "--host", "::"], {}, /refused to listen on "::".*--host/],
  ])("%j with %j says what is wrong and ends with 1", async (args, env, message) => {
    const sample = new SampleProcess(args, env);
    expect(await sample.ended()).toEqual({ code: 1, signal: null });
    expect(sample.stderr).toMatch(message);
    expect(sample.stderr.trim().split("\n")).toHaveLength(1);
    expect(sample.stdout).toBe("");
  });

  it.each([
    ["--port", ["--shop-port", "0"]],
    ["--shop-port", ["--port", "0"]],
  ])("names %s if that port is in use", async (option, rest) => {
    const { server, port } = await takenPort();
    try {
      const sample = new SampleProcess([option, String(port), ...rest]);
      expect(await sample.ended()).toEqual({ code: 1, signal: null });
      expect(sample.stderr).toMatch(new RegExp(`port ${port} .*in use.*${option}\\b`));
      expect(sample.stderr.trim().split("\n")).toHaveLength(1);
    } finally {
      server.close();
    }
  });

  it("takes the port from PORT, unless --port says another", async () => {
    const { server, port } = await takenPort();
    server.close();
    await once(server, "close");
    const sample = new SampleProcess(["--shop-port", "0", "--no-traffic"], { PORT: String(port) });
    try {
      await sample.printed(new RegExp(`actuator +http://127.0.0.1:${port} `));
      const other = new SampleProcess([...FREE_PORTS, "--no-traffic"], { PORT: String(port) });
      await other.printed(/actuator +http/);
      await other.kill();
    } finally {
      await sample.kill();
    }
  });

  it.each(["::1", "localhost", "[::1]"])("listens on %s as well", async (host) => {
    const { process, actuator } = await startSample("--no-traffic", "--host", host);
    try {
      expect(actuator).toContain(host === "localhost" ? "localhost" : "[::1]");
      expect(await json(`${actuator}/health`)).toEqual({ status: "UP" });
    } finally {
      await process.kill();
    }
  });
});

describe.runIf(runsTypeScript)("the end", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("comes with %s and code 0, traffic or not", async (signal) => {
    const { process, actuator } = await startSample();
    await process.printed(/"username":"bob","msg":"came in"/);
    expect(await json(`${actuator}/health`)).toEqual({ status: "UP" });
    process.signal(signal);
    expect(await process.ended()).toEqual({ code: 0, signal: null });
    expect(process.stderr).toBe("");
    expect(process.stdout).not.toContain("shop closed");
  });
});

async function shell(line: string): Promise<string> {
  const cwd = join(import.meta.dirname, "..", "..");
  const env = { ...process.env, PATH: `${join(cwd, "node_modules", ".bin")}:${process.env.PATH}` };
  return (await promisify(execFile)("sh", ["-c", line], { cwd, env })).stdout;
}

async function takenPort(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}
