/**
 * What an application pays for an actuator at its start and at the first requests, above an empty server of `node:http`, and beside connect
 * of its own. Wants `npm run build`.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const root = join(import.meta.dirname, "..");
const rounds = Number(process.argv[2] ?? 15);

/** Not by `import`, which would load undici with it. */
const server = `
  const http = process.getBuiltinModule("node:http");
  const server = http.createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const ask = (options, body) => new Promise((resolve) =>
    http.request(options, (response) => response.resume().once("end", resolve)).end(body));`;
const listening = `
  const { createActuator } = await import("connect-actuator");
  const { port } = await createActuator({ loggers: {}, access: "loopback" }).listen({ port: 0 });`;
const rest = `await ask({ port, path: "/actuator/loggers" });`;
const call = `
  const headers = { "content-type": "application/json" };
  await ask({ port, method: "POST", path: "/actuator.v3.LoggersService/GetLogger", headers }, '{"name":"ROOT"}');`;
const health = JSON.stringify(join(root, "src", "gen", "grpc", "health", "v1", "health_pb.ts"));
/** Has served and made a call itself. */
const connect = `
  const { createClient } = await import("@connectrpc/connect");
  const { connectNodeAdapter, createConnectTransport } = await import("@connectrpc/connect-node");
  const { Health } = await import(${health});
  server.removeAllListeners("request");
  server.on("request", connectNodeAdapter({ routes: ({ service }) => service(Health, { check: () => ({ status: 1 }) }) }));
  const baseUrl = "http://127.0.0.1:" + server.address().port;
  await createClient(Health, createConnectTransport({ baseUrl, httpVersion: "1.1" })).check({});`;

interface Program {
  readonly name: string;
  readonly text: string;
  /** The name of the program that it is compared with. */
  readonly above?: string;
}

const EMPTY = "an empty server of node:http";
const WITH_CONNECT = "a server that has connect itself";
const programs: readonly Program[] = [
  { name: "Node.js alone", text: "" },
  { name: EMPTY, text: server },
  { name: "and an actuator that listens", text: server + listening, above: EMPTY },
  { name: "and has answered over REST", text: server + listening + rest, above: EMPTY },
  { name: "and has answered a call", text: server + listening + rest + call, above: EMPTY },
  { name: WITH_CONNECT, text: server + connect },
  { name: "and an actuator that listens ", text: server + connect + listening, above: WITH_CONNECT },
  { name: "and has answered a call ", text: server + connect + listening + call, above: WITH_CONNECT },
];

/** At the end of a start, and what stays of it when V8 has collected everything and given its pages back. */
interface Paid {
  readonly milliseconds: number;
  /** Processor time of all threads. */
  readonly cpu: number;
  readonly resident: number;
  readonly residentLater: number;
}

const pay = `
  const { user, system } = process.cpuUsage();
  const paid = { milliseconds: performance.now(), cpu: (user + system) / 1_000, resident: process.memoryUsage.rss() / 1e6 };
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
  console.log(JSON.stringify({ ...paid, residentLater: process.memoryUsage.rss() / 1e6 }));
  process.exit();`;

function paidFor(program: string): Paid {
  const args = ["--expose-gc", "--input-type=module", "--eval", program + pay];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }));
}

const results = new Map<string, Paid[]>(programs.map(({ name }) => [name, []]));
// In turns, so that what else the machine does meets all of them.
for (let round = 0; round < rounds; round++)
  for (const { name, text } of programs) results.get(name)!.push(paidFor(text));

console.log(environment("@connectrpc/connect-node", "@bufbuild/protobuf"));
console.log();
const figures: readonly (keyof Paid)[] = ["milliseconds", "cpu", "resident", "residentLater"];
const of = (name: string, figure: keyof Paid) => median(results.get(name)!.map((paid) => paid[figure]));
printTable(
  ["", "ms", "more", "ms of processor", "more", "MB resident", "more", "MB that stay", "more"],
  programs.map(({ name, above }) => [
    name,
    ...figures.flatMap((figure) => {
      const value = of(name, figure);
      return [value.toFixed(0), above === undefined ? "" : (value - of(above, figure)).toFixed(0)];
    }),
  ]),
);
