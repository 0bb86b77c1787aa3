/**
 * Sessions of connect-redis by the index, at 1,000,000 sessions (`--sessions=<count>`), beside bare commands and a scan.
 *
 * All calls are made one at a time, ours and the bare ones in turn, on one connection of node-redis. Then what the index
 * adds to the requests of an Express application. Ratios are of the medians within one run.
 */
import { execFileSync } from "node:child_process";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { RedisStore } from "connect-redis";
import { createClient } from "redis";
import { connectRedisSessions } from "../src/adapters/sessions/connect-redis/index.ts";
import { createActuator } from "../src/index.ts";
import { sessionDigest } from "../src/sessions/session-id.ts";
import { Sessions } from "../src/sessions/sessions.ts";
import { startRedis } from "../test/support/redis-server.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { type Latency, type LatencySide, latencies } from "./support/latency.ts";
import { median } from "./support/median.ts";
import { startServer } from "./support/server.ts";
import { printTable } from "./support/table.ts";
import { Visitors } from "./support/visitors.ts";

const asked = process.argv.find((argument) => argument.startsWith("--sessions="));
const count = Number(asked?.split("=")[1] ?? 1_000_000);
const perUser = 4;
const users = count / perUser;
const maxAge = 1_800_000;
const page = 100;
const index = "actuator:sessions:sess:";

console.log(environment("redis", "connect-redis", "express-session"));
console.log(execFileSync("redis-server", ["--version"], { encoding: "utf8" }).trim());

const server = await startRedis({ args: ["--appendonly", "no"] });
const client = createClient({ url: server.url });
await client.connect();
const store = new RedisStore({ client });
const adapter = connectRedisSessions(store);
const idKey = "a key of the benchmark";

const idOf = (number: number) => `${number.toString(36).padStart(8, "0")}${"s".repeat(24)}`;
const random = (below: number) => Math.floor(Math.random() * below);
const anyId = () => idOf(random(count));
const usedMemory = async () => Number(/^used_memory:(\d+)/m.exec(await client.info("memory"))![1]);
const number = (value: number) => Math.round(value).toLocaleString("en");

/** A record and its lifetime, as connect-redis writes them for express-session. */
function recordOf(at: number): string {
  const expires = new Date(Date.now() + maxAge).toISOString();
  const cookie = { originalMaxAge: maxAge, expires, httpOnly: true, path: "/" };
  return JSON.stringify({ cookie, user: { username: `user-${at % users}`, roles: ["reader", "writer"] } });
}

const empty = await usedMemory();
for (let first = 0; first < count; first += 1000) {
  const numbers = Array.from({ length: Math.min(1000, count - first) }, (_, at) => first + at);
  const expiration = { type: "EX", value: maxAge / 1000 } as const;
  await Promise.all(numbers.map((at) => client.set(`sess:${idOf(at)}`, recordOf(at), { expiration })));
}
const full = await usedMemory();
await checkForm();

const before = await othersGet(() => new Promise((resolve) => setTimeout(resolve, 3000)));
let seconds = 0;
let complete = false;
const meanwhile = await othersGet(async () => {
  const began = performance.now();
  ({ complete } = await adapter.prepare!());
  seconds = (performance.now() - began) / 1000;
});
if (!complete) throw new Error("the index is not complete");
const indexed = await usedMemory();
console.log(
  `\n${number(count)} sessions of ${number(users)} users: ${number((full - empty) / count)} bytes each, and ` +
    `${number((indexed - full) / count)} more for the index, filled in ${number(seconds)} s`,
);
console.log(
  `GET by another process: ${number(before.p50)} µs (p50), ${number(before.p99)} µs (p99); ` +
    `while the index was filled ${number(meanwhile.p50)} µs, ${number(meanwhile.p99)} µs\n`,
);

const domain = new Sessions(adapter, { idKey });
const actuator = createActuator({ sessions: { store: adapter, idKey }, audit: false });
const { port } = await actuator.listen({ port: 0 });
const agent = new Agent({ keepAlive: true });

function rest(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ agent, port, host: "127.0.0.1", path }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    })
      .on("error", reject)
      .end();
  });
}

const newest = { BY: "SCORE", REV: true, LIMIT: { offset: 0, count: page } } as const;
const textsOf = (ids: readonly string[]) => client.mGet(ids.map((id) => `sess:${id}`));
const bareFind = async () => {
  const user = sessionDigest(`user-${random(users)}`).slice(0, 12);
  const members = await client.zRange(`${index}users`, `[${user}:`, `(${user};`, { BY: "LEX" });
  return textsOf(members.map((member) => member.slice(member.indexOf(":") + 1)));
};
const barePage = async () => textsOf(await client.zRange(`${index}accessed`, "+inf", "-inf", newest));
const barePageWithTimes = async () => {
  const ids = await client.zRange(`${index}accessed`, "+inf", "-inf", newest);
  await Promise.all([textsOf(ids), ...ids.map((id) => client.pTTL(`sess:${id}`))]);
};
const shown = await idsOfPages(1000);
const never = await idsOfPages(1000, new Sessions(adapter, { idKey, maxShown: 1 }));
const unaware = new Sessions(adapter, { idKey, maxShown: 1 });
const find = async () => {
  const { sessions, partial } = await domain.findByUsername(`user-${random(users)}`);
  if (sessions.length !== perUser || partial) throw new Error(`found ${sessions.length} sessions`);
};

const cases: readonly (readonly [
  name: string,
  rounds: number,
  ours: LatencySide,
  bareName: string,
  bare: LatencySide,
])[] = [
  ["find by user", 3000, find, "ZRANGE BYLEX, MGET", bareFind],
  [
    "find by user, REST",
    3000,
    () => rest(`/actuator/sessions?username=user-${random(users)}`),
    "ZRANGE BYLEX, MGET",
    bareFind,
  ],
  ["get, shown before", 3000, (at) => domain.find(shown[at % 1000]!), "GET", () => client.get(`sess:${anyId()}`)],
  [
    "get, never shown",
    3000,
    (at) => unaware.find(never[at % 1000]!),
    "GET, GET",
    async () => {
      const id = anyId();
      await client.get(`${index}id:${sessionDigest(id)}`);
      await client.get(`sess:${id}`);
    },
  ],
  [`list of ${page}`, 500, () => domain.list({ pageSize: page }), "ZRANGE, MGET", barePage],
  [`list of ${page}`, 500, () => domain.list({ pageSize: page }), `ZRANGE, MGET, ${page} PTTL`, barePageWithTimes],
  [
    "delete, shown before",
    800,
    (at) => domain.delete(shown[at]!),
    "DEL",
    (at) => client.del(`sess:${idOf(count - 1 - at)}`),
  ],
];
const rows: string[][] = [];
let findTime = 0;
for (const [name, rounds, ours, bareName, bare] of cases) {
  const [a, b] = await latencies(rounds, ours, bare);
  findTime ||= a!.p50;
  rows.push([
    name,
    number(a!.p50),
    number(a!.p99),
    bareName,
    number(b!.p50),
    number(b!.p99),
    (a!.p50 / b!.p50).toFixed(2),
  ]);
}
const scanTime = await scan();
rows.push([
  "find by user",
  number(findTime),
  "",
  "scan of all",
  number(scanTime),
  "",
  (findTime / scanTime).toExponential(1),
]);
printTable(["µs", "p50", "p99", "beside", "p50", "p99", "ratio"], rows);

agent.destroy();
await actuator.close();
await writeOverhead();
await client.close();
await server.stop();

/** The ids that callers see of so many sessions. */
async function idsOfPages(wanted: number, from = domain): Promise<string[]> {
  return (await from.list({ pageSize: wanted })).sessions.map(({ id }) => id);
}

/** How long a process of its own waits for a GET, again and again, while something is done. */
async function othersGet(act: () => Promise<unknown>): Promise<Latency> {
  const other = new Child(join(import.meta.dirname, "support", "redis-visitor.ts"), {
    args: [server.url, `sess:${anyId()}`],
  });
  await other.next();
  await act();
  const latency = await other.ask<Latency>({});
  await other.end();
  return latency;
}

/** The fastest search without an index that we know: whole pages of keys, and only what may match is parsed. */
async function scan(): Promise<number> {
  const began = performance.now();
  const username = `user-${users >> 1}`;
  let found = 0;
  let cursor = "0";
  do {
    const step = await client.scan(cursor, { MATCH: "sess:*", COUNT: 1000 });
    cursor = step.cursor;
    const texts = step.keys.length === 0 ? [] : await client.mGet(step.keys);
    for (const text of texts) if (text?.includes(username) && JSON.parse(text).user.username === username) found++;
  } while (cursor !== "0");
  if (found === 0) throw new Error("the scan found nothing");
  return (performance.now() - began) * 1000;
}

/** What was written above has to look as what real requests write: the same keys, kinds, shapes and lifetimes. */
async function checkForm(): Promise<void> {
  const real = await startServer(join(import.meta.dirname, "servers", "express-redis.ts"), [server.url, "attached"]);
  const visitors = new Visitors(real.port, 1);
  await visitors.logIn();
  visitors.end();
  const [key] = await client.keys("attached:*");
  const shapeOf = async (of: string) => {
    const { cookie, user } = JSON.parse((await client.get(of))!);
    const lifetime = Math.round((await client.pTTL(of)) / 600_000);
    return JSON.stringify([
      Object.entries(cookie).map(([name, value]) => [name, typeof value]),
      Object.keys(user),
      lifetime,
    ]);
  };
  const [made, expected] = [await shapeOf(`sess:${idOf(0)}`), await shapeOf(key!)];
  if (made !== expected) throw new Error(`sessions are ${expected}, and not ${made}`);
  await real.end();
  await client.del((await client.keys("a*")).filter((each) => each.startsWith("a")));
}

/** Two servers, with the index and without, loaded in turn. */
async function writeOverhead(): Promise<void> {
  const module = join(import.meta.dirname, "servers", "express-redis.ts");
  const sides = await Promise.all(
    ["attached", "bare"].map(async (role) => {
      const started = await startServer(module, [server.url, role]);
      const visitors = new Visitors(started.port, 8);
      await visitors.logIn();
      return { started, visitors };
    }),
  );
  const rows = [];
  for (const [name, method, path, strangers] of [
    ["login", "POST", "/login", true],
    ["visit", "GET", "/visit", false],
    ["change", "POST", "/change", false],
  ] as const) {
    const found = sides.map((): { time: number; cpu: number }[] => []);
    for (let round = -3; round < 9; round++) {
      for (const [at, { started, visitors }] of sides.entries()) {
        const before = await started.usage();
        const { requests, seconds } = await visitors.run(method, path, 1, strangers);
        const after = await started.usage();
        if (round < 0) continue;
        found[at]!.push({ time: (seconds * 1e6) / requests, cpu: (after.cpu - before.cpu) / requests });
      }
    }
    const of = (at: number, what: "time" | "cpu") => median(found[at]!.map((each) => each[what]));
    const row = (["time", "cpu"] as const).flatMap((what) => [
      number(of(0, what)),
      number(of(1, what)),
      (of(0, what) / of(1, what)).toFixed(2),
    ]);
    rows.push([name, ...row]);
  }
  console.log();
  printTable(["µs for a request", "with index", "without", "ratio", "CPU", "without", "ratio"], rows);
  for (const { started, visitors } of sides) {
    visitors.end();
    await started.end();
  }
}
