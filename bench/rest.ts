/**
 * CPU of REST beside bare node:http, fastify and express with the same body: one of 100 loggers, and the overview of 10,000.
 *
 * `npm run bench -- rest [--quick]`. All are loaded in turn, round by round, and a multiple is the median of the multiples within
 * the rounds.
 */
import { join } from "node:path";
import { environment } from "./support/environment.ts";
import { printHotSpots, profileDirectories } from "./support/hot-spots.ts";
import { http1Bytes } from "./support/http1.ts";
import { cpuRatio, measureInTurn } from "./support/in-turn.ts";
import { median } from "./support/median.ts";
import { startServer } from "./support/server.ts";
import { printTable, within } from "./support/table.ts";

/** What is asked for, and the most that it may cost as a multiple of bare node:http. */
const cases = [
  { name: "GET of one logger", loggers: 100, path: "/actuator/loggers/com.example.module7.Service7", most: 1.4 },
  { name: "overview of 10,000 loggers", loggers: 10_000, path: "/actuator/loggers", most: 1.2 },
];
const peers = ["node:http", "fastify", "express"];
const plan = process.argv.includes("--quick")
  ? { warmUpSeconds: 2, roundSeconds: 0.3, rounds: 9 }
  : { warmUpSeconds: 4, roundSeconds: 0.3, rounds: 25 };

async function measure({ name, loggers, path, most }: (typeof cases)[number]): Promise<readonly string[]> {
  const profiles = profileDirectories();
  const file = (module: string) => join(import.meta.dirname, "servers", module);
  const subject = await startServer(file("actuator.ts"), [`${loggers}`], profiles?.subject);
  const url = `http://127.0.0.1:${subject.port}${path}`;
  const servers = [subject];
  for (const peer of peers) {
    servers.push(await startServer(file("bytes.ts"), [peer, url], peer === "node:http" ? profiles?.beside : undefined));
  }
  const load = { protocol: "http1", request: http1Bytes({ method: "GET", path }), connections: 16 } as const;
  const contestants = servers.map((server) => ({ server, load }));
  const [ours, ...others] = await measureInTurn(contestants, plan);
  for (const server of servers) await server.end();
  printHotSpots(name, profiles);
  const beside = others.flatMap((other, index) => {
    const ratio = cpuRatio(ours!, other);
    return [median(other.cpu).toFixed(1), index === 0 ? within(ratio, most) : ratio.toFixed(2)];
  });
  return [name, median(ours!.cpu).toFixed(1), ...beside];
}

console.log(environment("fastify", "express", "pino"));
const rows: (readonly string[])[] = [];
for (const entry of cases) rows.push(await measure(entry));
printTable(["CPU µs a request", "ours", ...peers.flatMap((peer) => [peer, "× it"])], rows);
