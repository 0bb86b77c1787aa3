/**
 * REST beside a bare node:http handler that writes the same bytes: one of 100 loggers, and the overview of 10,000.
 */
import { join } from "node:path";
import { type Compared, compare } from "./support/compare.ts";
import { environment } from "./support/environment.ts";
import { printHotSpots, profileDirectories } from "./support/hot-spots.ts";
import { http1Bytes } from "./support/http1.ts";
import { startServer } from "./support/server.ts";
import { comparisonHeading, comparisonRow, printTable } from "./support/table.ts";

const cases = [
  { name: "GET of one logger", loggers: 100, path: "/actuator/loggers/com.example.module7.Service7", reach: 0.9 },
  { name: "overview of 10,000 loggers", loggers: 10_000, path: "/actuator/loggers", reach: 0.8 },
];

async function measure({ name, loggers, path }: (typeof cases)[number]): Promise<Compared> {
  const profiles = profileDirectories();
  const subject = await startServer(
    join(import.meta.dirname, "servers", "actuator.ts"),
    [String(loggers)],
    profiles?.subject,
  );
  const original = `http://127.0.0.1:${subject.port}${path}`;
  const beside = await startServer(join(import.meta.dirname, "servers", "bytes.ts"), [original], profiles?.beside);
  const request = http1Bytes({ method: "GET", path });
  const compared = await compare({ subject, beside, load: { protocol: "http1", request, connections: 16 } });
  await subject.end();
  await beside.end();
  printHotSpots(name, profiles);
  return compared;
}

console.log(environment("pino"));
const rows = [];
for (const entry of cases) rows.push(comparisonRow(entry.name, await measure(entry), entry.reach));
console.log();
printTable(comparisonHeading, rows);
