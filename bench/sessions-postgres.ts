/**
 * What sessions of connect-pg-simple cost to find, list and end among 1,000,000, beside the bare statement on the same pool,
 * and what the indexes for it cost the application.
 *
 * The bare statement is what one writes by hand: through the same pool it returns as many rows of whole records, which pg
 * parses, has the store's own indexes and a plain one on `passport.user`, and is prepared like ours (under "unprepared",
 * not). "and times" also takes the columns from which our page has its times of creation. Short rounds take turns, so that a
 * busy machine slows both. CPU is that of this process and of PostgreSQL's for the connection; its ratio needs Linux.
 */
import { readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import connectPgSimple from "connect-pg-simple";
import session, { type SessionData } from "express-session";
import pg from "pg";
import {
  connectPgSimpleSessions,
  prepareConnectPgSimpleSessions,
} from "../src/adapters/sessions/connect-pg-simple/index.ts";
import { ListSessionsRequestSchema, ListSessionsResponseSchema } from "../src/gen/actuator/v3/sessions_pb.ts";
import { listAllSessions } from "../src/http/rpc/session-list.ts";
import { Sessions } from "../src/sessions/sessions.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const SESSIONS = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 1_000_000);
const PER_USER = 4;
const TURNS = 3_000;
/** How many turns a round has. */
const ROUND = 10;
const PAGE = 100;
const GOAL = 2;

await using server = await startPostgres({
  settings: { shared_buffers: "1GB", maintenance_work_mem: "512MB", max_wal_size: "8GB", fsync: "on" },
});
const pool = new pg.Pool({ connectionString: server.url, max: 4 });
const PGStore = connectPgSimple(session);
await pool.query("CREATE SCHEMA plain");
const settings = { pool, createTableIfMissing: true, pruneSessionInterval: false } as const;
const store = new PGStore(settings);
const plainStore = new PGStore({ ...settings, schemaName: "plain" });

const record = (user: string) => ({
  cookie: {
    originalMaxAge: 1_800_000,
    expires: new Date(Date.now() + 1_800_000),
    httpOnly: true,
    path: "/",
  } as SessionData["cookie"],
  ...{
    passport: { user },
    csrfSecret: "mVYkMEVPCLzdNbzM7vTtSAQA",
    basket: [{ article: "pear-4711", count: 2 }],
    flash: {},
  },
});
const userOf = (number: number) => `user${Math.floor(number / PER_USER)}@example.com`;
const anyUser = () => userOf(Math.floor(Math.random() * SESSIONS));
const anyId = () => `id-${Math.floor(Math.random() * SESSIONS)}-tQjz0fN3bYqQ1yG7`;

const save = (by: typeof store, method: "set" | "touch", id: string) =>
  new Promise<void>((resolve, reject) => {
    const saved = record(anyUser()) as unknown as SessionData;
    by[method](id, saved, (error?: unknown) => (error ? reject(error) : resolve()));
  });
let made = 0;
const WRITES: Readonly<Record<string, (by: typeof store) => Promise<void>>> = {
  "save a new session": (by) => save(by, "set", `new-${Math.random()}-${made++}`),
  "save a changed session": (by) => save(by, "set", anyId()),
  "touch a session": (by) => save(by, "touch", anyId()),
};

await fill();
const scans: number[] = [];
for (let times = 0; times < 3; times++)
  scans.push(
    await milliseconds(() =>
      pool.query("SELECT sid FROM session WHERE sess -> 'passport' ->> 'user' = $1", [anyUser()]),
    ),
  );
await pool.query("CREATE INDEX by_hand ON plain.session ((sess -> 'passport' ->> 'user'))");
const preparing = await milliseconds(() => prepareConnectPgSimpleSessions({ pool }));
await pool.query("VACUUM ANALYZE session");
await pool.query("VACUUM ANALYZE plain.session");
const sessions = connectPgSimpleSessions(store);

console.log(environment("connect-pg-simple", "pg"));
console.log(
  `PostgreSQL ${(await pool.query("SHOW server_version")).rows[0].server_version}, ${SESSIONS} sessions of about ${await recordBytes()} bytes, ${PER_USER} a user`,
);
console.log();
await reads();
console.log();
await writes();
await reportSizes();
await sessions.detach();
await pool.end();

/** What the middleware writes, as often as it takes: one session written by the store itself is multiplied. */
async function fill(): Promise<void> {
  for (const [made, table] of [
    [store, "session"],
    [plainStore, "plain.session"],
  ] as const) {
    await new Promise((resolve) => made.set("sample", record("sample") as unknown as SessionData, resolve));
    await pool.query(
      `INSERT INTO ${table} SELECT 'id-' || i || '-tQjz0fN3bYqQ1yG7', replace(sess::text, '"sample"', '"user' || i / ${PER_USER} || '@example.com"')::json, expire + (i * 0.0018) * interval '1 second' FROM ${table}, generate_series(0, ${SESSIONS - 1}) AS i`,
    );
    await pool.query(`VACUUM ANALYZE ${table}`);
  }
}

async function reads(): Promise<void> {
  const columns = "SELECT sid, sess, expire FROM plain.session";
  const deep = await pool.query(
    `SELECT expire::text, sid FROM session ORDER BY expire DESC, sid DESC OFFSET ${SESSIONS >> 1} LIMIT 1`,
  );
  const { expire, sid } = deep.rows[0];
  const after = JSON.stringify(["expire", expire, sid]);
  const shown = new Sessions(sessions, { idKey: "a key of a benchmark" });
  const request = create(ListSessionsRequestSchema);
  const firstPage = [`${columns} ORDER BY expire DESC, sid DESC LIMIT $1`, () => [PAGE]] as const;
  let number = 0;
  const cases: readonly Case[] = [
    [
      "find by user",
      () => sessions.findByUsername(anyUser()),
      [`${columns} WHERE sess -> 'passport' ->> 'user' = $1`, () => [anyUser()]],
    ],
    ["get", () => sessions.findById(anyId()), [`${columns} WHERE sid = $1`, () => [anyId()]]],
    [`list, first ${PAGE}`, () => sessions.list({ limit: PAGE }), firstPage],
    [
      `list, first ${PAGE}, and times`,
      () => sessions.list({ limit: PAGE }),
      [
        "SELECT sid, sess, expire, created_at, first_seen_at FROM session ORDER BY expire DESC, sid DESC LIMIT $1",
        () => [PAGE],
      ],
    ],
    [`list, first ${PAGE}, with hashed ids`, () => shown.list({ pageSize: PAGE }), firstPage],
    [
      `list, first ${PAGE}, as protobuf`,
      async () => toBinary(ListSessionsResponseSchema, await listAllSessions(shown, request, 2 ** 22)),
      firstPage,
    ],
    [
      `list, ${PAGE} in the middle`,
      () => sessions.list({ limit: PAGE, after }),
      [`${columns} WHERE (expire, sid) < ($1, $2) ORDER BY expire DESC, sid DESC LIMIT $3`, () => [expire, sid, PAGE]],
    ],
    [
      "delete",
      () => sessions.delete(`id-${number++}-tQjz0fN3bYqQ1yG7`),
      ["DELETE FROM plain.session WHERE sid = $1", () => [`id-${number++}-tQjz0fN3bYqQ1yG7`]],
    ],
  ];
  const rows = [];
  for (const [name, subject, [text, values]] of cases) {
    const turns = name.startsWith("list") ? TURNS / 3 : TURNS;
    const measured = await alternate(turns, [
      subject,
      () => pool.query({ name, text, values: values() }),
      () => pool.query(text, values()),
    ]);
    const [ours, prepared, unprepared] = measured.map(({ times }) => ({
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
    }));
    const ratio = ours!.p50 / prepared!.p50;
    const cpu = measured[0]!.cpu.map((micros, round) => micros / measured[1]!.cpu[round]!);
    rows.push([
      name,
      ...[ours!, prepared!, unprepared!].flatMap(({ p50, p99 }) => [micros(p50), micros(p99)]),
      `${ratio.toFixed(2)}${ratio > GOAL ? " over" : ""}`,
      (ours!.p50 / unprepared!.p50).toFixed(2),
      median(cpu).toFixed(2),
      name === "find by user" ? `${Math.round(median(scans) / ours!.p50)}` : "",
    ]);
  }
  printTable(
    ["µs", "p50", "p99", "bare p50", "p99", "unprepared p50", "p99", "ratio", "unprepared", "CPU", "times a scan"],
    rows,
  );
  console.log(
    `\na scan: ${median(scans).toFixed(0)} ms; preparing took ${(preparing / 1000).toFixed(1)} s; goals: ratio ${GOAL}, a scan 1000 times`,
  );
}

type Case = readonly [
  name: string,
  subject: () => Promise<unknown>,
  bare: readonly [text: string, values: () => unknown[]],
];

/** Saves and touches by the store, in the prepared table and in one as it was, by turns. */
async function writes(): Promise<void> {
  await pool.query("DROP INDEX plain.by_hand");
  const hasty = new pg.Pool({ connectionString: server.url, max: 4, options: "-c synchronous_commit=off" });
  const rows = [];
  for (const [durability, by] of [
    ["on the disk", pool],
    ["in memory", hasty],
  ] as const) {
    const prepared = new PGStore({ ...settings, pool: by });
    const asItWas = new PGStore({ ...settings, pool: by, schemaName: "plain" });
    for (const [name, write] of Object.entries(WRITES)) {
      const measured = await alternate(TURNS, [() => write(prepared), () => write(asItWas)]);
      const [subject, beside] = measured.map(({ times }) => percentile(times, 0.5));
      const more = `${micros(subject! - beside!)} (${((subject! / beside! - 1) * 100).toFixed(0)} %)`;
      rows.push([`${name}, ${durability}`, micros(subject!), micros(beside!), more]);
    }
  }
  await hasty.end();
  printTable(["µs, p50", "prepared", "as it was", "more"], rows);
}

async function reportSizes(): Promise<void> {
  const { rows } = await pool.query(
    "SELECT indexrelid::regclass::text AS name, pg_relation_size(indexrelid) AS bytes FROM pg_index WHERE indrelid = 'session'::regclass ORDER BY 1",
  );
  console.log(`\n${rows.map(({ name, bytes }) => `${name} ${(Number(bytes) / 2 ** 20).toFixed(0)} MB`).join(", ")}`);
}

interface Measured {
  /** Milliseconds of each turn. */
  readonly times: number[];
  /** Microseconds of CPU of each round. */
  readonly cpu: number[];
}

/** Performs the acts by turns, in rounds. */
async function alternate(turns: number, acts: readonly (() => Promise<unknown>)[]): Promise<Measured[]> {
  for (let turn = 0; turn < turns / 10; turn++) for (const act of acts) await act();
  const { rows } = await pool.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'");
  const pids = rows.map(({ pid }) => pid as number);
  const measured = acts.map((): Measured => ({ times: [], cpu: [] }));
  for (let round = 0; round < turns / ROUND; round++) {
    for (const [at, act] of acts.entries()) {
      const before = cpuMicros(pids);
      for (let turn = 0; turn < ROUND; turn++) measured[at]!.times.push(await milliseconds(act));
      measured[at]!.cpu.push(cpuMicros(pids) - before);
    }
  }
  return measured;
}

function cpuMicros(pids: readonly number[]): number {
  const { user, system } = process.cpuUsage();
  return pids.reduce((sum, pid) => sum + processMicros(pid), user + system);
}

/** Returns the CPU time of another process, in µs; not a number on other systems than Linux. */
function processMicros(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000;
  } catch {
    return Number.NaN;
  }
}

async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!;
}

function micros(value: number): string {
  return (value * 1000).toFixed(0);
}

async function recordBytes(): Promise<number> {
  const { rows } = await pool.query("SELECT octet_length(sess::text) AS bytes FROM session LIMIT 1");
  return rows[0].bytes;
}
