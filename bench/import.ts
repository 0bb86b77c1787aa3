/** What an application pays at its start for `import "connect-actuator"`, beside Node.js and the libraries below. Wants `npm run build`. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const servers = ["http", "https", "http2", "tls"].map((name) => `await import("node:${name}");`).join(" ");
const libraries = `${servers} await import("@connectrpc/connect-node");`;
const actuator = `${libraries} const { createActuator } = await import("connect-actuator");`;
const listening = `${actuator} await createActuator({ loggers: {} }).listen({ port: 0 });`;
/** Each does what the one above does, and more. */
const programs = {
  "node alone": "",
  "and node:http, https, http2": servers,
  "and @connectrpc/connect-node": libraries,
  "and connect-actuator": actuator,
  "and an actuator that listens": listening,
};
const rounds = 15;

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
  const paid = { milliseconds: performance.now(), cpu: (user + system) / 1_000, resident: process.memoryUsage.rss() };
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
  console.log(JSON.stringify({ ...paid, residentLater: process.memoryUsage.rss() }));
  process.exit();`;

function paidFor(program: string): Paid {
  const args = ["--expose-gc", "--input-type=module", "--eval", program + pay];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: join(import.meta.dirname, ".."), encoding: "utf8" }));
}

const results = Object.entries(programs).map(([name, program]) => ({ name, program, paid: [] as Paid[] }));
// In turns, so that what else the machine does meets all of them.
for (let round = 0; round < rounds; round++) for (const { program, paid } of results) paid.push(paidFor(program));

console.log(environment("@connectrpc/connect-node", "@bufbuild/protobuf"));
console.log();
printTable(
  ["", "ms", "ms of processor", "MB resident", "MB that stay"],
  results.map(({ name, paid }) => {
    const of = (figure: (paid: Paid) => number) => median(paid.map(figure)).toFixed(0);
    const megabytes = (figure: (paid: Paid) => number) => of((one) => figure(one) / 1e6);
    return [
      name,
      of(({ milliseconds }) => milliseconds),
      of(({ cpu }) => cpu),
      megabytes(({ resident }) => resident),
      megabytes(({ residentLater }) => residentLater),
    ];
  }),
);
