import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  GetIntegrationGraphResponseSchema,
  WatchIntegrationGraphResponseSchema,
} from "../../src/gen/actuator/v3/integration_graph_pb.ts";
import { integrationGraph } from "../../src/index.ts";
import { CliProcess, cli } from "./cli-process.ts";
import { openShop } from "./shop.ts";

const lines = (text: string) => text.trimEnd().split("\n");

describe("graph", () => {
  test("is a tree in which every link is one line and circles end", async () => {
    const { url } = await openShop();
    const { code, stdout, stderr } = await cli(["graph", "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "shop: 6 nodes, 6 links\n" });
    expect(lines(stdout)).toEqual([
      "incoming [channel]",
      "  check [filter]",
      "    accepted [channel]",
      "    error: failures [channel]",
      "    discard: rejected [channel]",
      "      again [service-activator]",
      "        incoming [channel] (see above)",
    ]);
  });

  test.each([[["--json"]], [["--format", "json"]]])("with %j is the answer of the server", async (args) => {
    const { url } = await openShop();
    const { stdout } = await cli(["graph", ...args, "--url", url]);
    expect(fromJson(GetIntegrationGraphResponseSchema, JSON.parse(stdout)).nodes).toHaveLength(6);
  });
});

/** Another application that reads what the shop writes. */
async function openBilling(count: number) {
  const flow = integrationGraph({ app: "billing" });
  const bill = flow.serviceActivator("bill", { input: "accepted" }).handle(() => {});
  for (let index = 0; index < count; index++) bill();
  return { flow, bill, ...(await openShop({ integrationGraph: flow })) };
}

/** A folder of its own. */
async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "graph-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

describe("graph of a format", () => {
  test.each([
    ["dot", /^digraph "shop" \{\n.*label="check\\n\[filter\]".*\}\n$/s],
    ["asyncapi", /^\{\n {2}"asyncapi": "3\.0\.0"/],
    ["mermaid", /^flowchart LR\n.*check<br\/>#91;filter#93;.*-\.->\|"error"\|/s],
    ["svg", /^<\?xml.*>check<.*<\/svg>\n$/s],
  ])("%s is on standard output, its size on the side", async (format, expected) => {
    const { url } = await openShop();
    const { code, stdout, stderr } = await cli(["graph", "--format", format, "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "shop: 6 nodes, 6 links\n" });
    expect(stdout).toMatch(expected);
  });

  test("goes to a file, without colours", async () => {
    const { url } = await openShop();
    const file = join(await folder(), "graph.txt");
    const env = { FORCE_COLOR: "1" };
    const ended = await cli(["graph", "-o", file, "--url", url], { env });
    expect(ended).toEqual({ code: 0, signal: null, stdout: "", stderr: `shop: 6 nodes, 6 links in ${file}\n` });
    expect(lines(readFileSync(file, "utf8"))[1]).toBe("  check [filter]");
    expect((await cli(["graph", "--url", url], { env })).stdout).toContain("\u001b[");
  });

  test("to a file that cannot be written says so", async () => {
    const { url } = await openShop();
    const ended = await cli(["graph", "--output", join(await folder(), "no", "graph.txt"), "--url", url]);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/cannot be written \(ENOENT\)/) });
  });

  test("that cannot show so large a graph names another one", async () => {
    const flow = integrationGraph({ app: "large" });
    for (let index = 0; index < 501; index++) flow.bridge(`b${index}`, { input: `in-${index % 5}` });
    const { url } = await openShop({ integrationGraph: flow });
    const ended = await cli(["graph", "--format", "mermaid", "--url", url]);
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/501 links.*use the format dot or svg/),
    });
  });
});

describe("graph --with", () => {
  test("puts several applications and instances together", async () => {
    const [shop, one, other] = [await openShop(), await openBilling(2), await openBilling(3)];
    const args = ["graph", "--url", shop.url, "--with", one.url, other.url.replace("http://", "")];
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "7 nodes, 7 links\n" });
    expect(stdout).toMatch(/accepted \[channel\]\n +bill \[service-activator\] \(of billing\) {2}5 ok/);
    const graph = fromJson(GetIntegrationGraphResponseSchema, JSON.parse((await cli([...args, "--json"])).stdout));
    const instances = graph.nodes.find(({ name }) => name === "accepted")!.instances;
    expect(instances).toEqual([shop.url, one.url, other.url].map((url) => url.replace("http://", "")).sort());
  });

  test("names the one that does not answer", async () => {
    const { url } = await openShop();
    const ended = await cli(["graph", "--url", url, "--with", "127.0.0.1:1"]);
    expect(ended).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/nothing listens at http:\/\/127\.0\.0\.1:1:/),
    });
  });

  test("does not count an instance twice", async () => {
    const { url } = await openShop();
    const ended = await cli(["graph", "--url", url, "--with", `${url}/`]);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/is named twice/) });
    const billing = await openBilling(3);
    const again = billing.url.replace("127.0.0.1", "localhost");
    const { code, stdout, stderr } = await cli(["graph", "--url", url, "--with", billing.url, again]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^localhost:\d+ is the same process as 127\.0\.0\.1:\d+: counted once\n7 nodes, 7 links\n$/,
      ),
    });
    expect(stdout).toMatch(/bill \[service-activator\].* 3 ok/);
  });
});

describe("graph --watch", () => {
  test("shows what there is, then what changes, until Ctrl-C", async () => {
    const { url, flow, bill } = await openBilling(1);
    const child = new CliProcess(["graph", "--watch", "--interval", "250ms", "--url", url]);
    await child.wrote(/2 nodes, 1 links/);
    bill();
    await child.wrote(/2 ok/);
    const late = flow.bridge("late", { input: "accepted", output: "out" });
    await child.wrote(/accepted -input-> late/);
    late.remove();
    await child.wrote(/late: gone/);
    child.signal("SIGINT");
    const { signal, stdout } = await child.ended();
    expect(signal).toBe("SIGINT");
    const shown = lines(stdout.replace(/\d\d:\d\d:\d\d/g, "CLOCK"));
    expect(shown.slice(0, 2)).toEqual([
      "accepted [channel]",
      expect.stringMatching(/^ {2}bill \[service-activator\] {2}1 ok/),
    ]);
    expect(shown).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^CLOCK {2}bill \[service-activator\] {2}2 ok, .*\/s$/),
        "CLOCK  late [bridge]",
        "CLOCK  out [channel]",
        "CLOCK  late -output-> out",
        "CLOCK  late: gone",
      ]),
    );
  });

  test("as JSON is one event a line", async () => {
    const { url, bill } = await openBilling(1);
    const child = new CliProcess(["graph", "--watch", "--interval", "250ms", "--json", "--url", url]);
    await child.wrote(/snapshot/);
    bill();
    await child.wrote(/change/);
    child.signal("SIGTERM");
    const events = lines((await child.ended()).stdout).map((line) =>
      fromJson(WatchIntegrationGraphResponseSchema, JSON.parse(line)),
    );
    expect(events.map(({ event }) => event.case)).toEqual(["snapshot", "change"]);
    expect(events[1]!.event.value).toMatchObject({ nodes: [{ name: "bill" }], links: [{ count: 2n }] });
  });

  test.each([
    [["--watch", "--format", "svg"], /shows text or JSON, not svg/],
    [["--watch", "--with", "127.0.0.1:2"], /cannot be used with option '--with/],
    [["--watch", "-o", "x"], /cannot be used with option '-o/],
    [["--interval", "1s"], /--interval goes with --watch/],
  ])("with %j is a slip of the fingers", async (args, message) => {
    expect(await cli(["graph", ...args])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(message),
    });
  });

  test("at an interval that is too short says what is possible", async () => {
    const { url } = await openShop();
    const ended = await cli(["graph", "--watch", "--interval", "10ms", "--url", url]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/interval must be from 0\.25 to 60 seconds/),
    });
  });
});
