// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../../src/processes/description.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";
import {
  BETTER_AUTH,
  EXPRESS,
  expectAsExplicit,
  expectAttached,
  FASTIFY,
  KOA,
  runSessions,
  type SessionApplication,
  visited,
} from "./session-applications.ts";

/** For stores that the application makes. */
const { explicitSetup: _, ...MADE } = EXPRESS;

const MEMORY: readonly SessionApplication[] = [
  { ...EXPRESS, format: "CommonJS" },
  { ...FASTIFY, format: "ESM" },
  KOA,
  { ...KOA, format: "CommonJS" },
  BETTER_AUTH,
  { ...BETTER_AUTH, format: "CommonJS" },
  ...(["ESM", "CommonJS"] as const).map((format) => ({
    ...MADE,
    format,
    imports: [["memorystore", "memorystore"]] as const,
    setup: "const store = new (memorystore(session))({ checkPeriod: 3_600_000 });",
  })),
  ...(["ESM", "CommonJS"] as const).map((format) => ({
    ...MADE,
    format,
    imports: [["fileStore", "session-file-store"]] as const,
    setup:
      'const store = new (fileStore(session))({ path: process.cwd() + "/sessions", retries: 0, logFn: () => {} });',
    kind: "session-file-store",
    adapter: ["fileStoreSessions", "adapters/sessions/session-file-store/index.ts"] as const,
  })),
];

test.for(MEMORY)("$framework, $format, $kind: found as with explicit wiring", expectAsExplicit);

test.for(MEMORY)("$framework, $format, $kind: found in a process that runs already", expectAttached);

const OWN_STORE: SessionApplication = {
  ...MADE,
  setup: `
    class OwnStore extends session.Store {
      texts = new Map();
      get(id, done) { setImmediate(done, null, this.texts.has(id) ? JSON.parse(this.texts.get(id)) : null); }
      set(id, record, done) { this.texts.set(id, JSON.stringify(record)); setImmediate(done); }
      destroy(id, done) { this.texts.delete(id); setImmediate(done); }
      all(done) { setImmediate(done, null, Object.fromEntries(this.texts)); }
    }
    const store = new OwnStore();
  `,
};

test("a store that the application wrote itself is found", () => expectAsExplicit(OWN_STORE));

test.for([EXPRESS, FASTIFY, KOA])("$framework: found in the heap of a bundle", async (application) => {
  const shop = runSessions(application, { bundle: true });
  const browsers = await visited(shop);
  expect(await shop.line(LINES.searchHeap)).toMatchObject({ found: expect.any(Object) });
  for (const visit of browsers) expect(await visit()).toBe("3");
  expect(await shop.shown()).toMatchObject({ kinds: [application.kind], ofUser: { sessions: [{}, {}] } });
});

test("processes of one user show the same ids for the sessions that they share", async () => {
  const application = MEMORY.find(({ kind }) => kind === "session-file-store")!;
  const one = runSessions(application);
  await visited(one);
  const other = runSessions(application, { folder: one.folder });
  await (await other.browser())();
  const ids = async (running: typeof one) =>
    (await running.rpc("ListSessions", {})).sessions.map(({ id }: { id: string }) => id).sort();
  expect(await ids(other)).toHaveLength(3);
  expect(await ids(other)).toEqual(await ids(one));
});

test("an application that makes stores without end is shown with the first of them", async () => {
  const code = "for (let made = 0; made < 150; made++) session(options);";
  const auto = runSessions({ ...EXPRESS, code });
  await visited(auto);
  expect((await auto.describe()).notices).toEqual(["only the first 100 session stores are shown"]);
  expect(await auto.shown()).toMatchObject({ ofUser: { sessions: [{}, {}] } });
});

describe.runIf(requirement("redis-server", redisFound))("connect-redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const applications: SessionApplication[] = (["express", "fastify"] as const).flatMap((framework) =>
    (["ESM", "CommonJS"] as const).flatMap((format) =>
      ["connect-redis", "connect-redis9"].map((copy) => ({
        framework,
        format,
        imports: [
          ["{ createClient }", "redis"],
          ["{ RedisStore }", "connect-redis"],
        ] as const,
        setup: `
          const client = createClient({ url: process.env.REDIS_URL });
          client.connect();
          const store = new RedisStore({ client, prefix: "shop" + process.pid + ":" });
        `,
        kind: "connect-redis",
        adapter: ["connectRedisSessions", "adapters/sessions/connect-redis/index.ts"] as const,
        packages: copy === "connect-redis" ? {} : { "connect-redis": copy },
      })),
    ),
  );
  const withServer = (application: SessionApplication) => ({ ...application, env: { REDIS_URL: redis.url } });

  test.for(applications)("$framework, $format, $packages: found as with explicit wiring", (application) =>
    expectAsExplicit(withServer(application)),
  );

  test.for([applications[0]!, applications[6]!])("$framework: found in a process that runs already", (application) =>
    expectAttached(withServer(application)),
  );

  test("a store of another copy of express-session is found", () =>
    expectAsExplicit({ ...withServer(applications[0]!), packages: { "express-session": "express-session" } }));

  test("Redis is sent what it is sent without us, until an operator asks", async () => {
    for (const application of [applications[0]!, applications[4]!]) {
      const [with_, without] = [await commandsOf(application, true), await commandsOf(application, false)];
      expect(with_).toEqual(without);
    }
  });

  async function commandsOf(application: SessionApplication, preload: boolean): Promise<string[]> {
    await redis.command("FLUSHALL");
    await redis.command("CONFIG", "RESETSTAT");
    const running = runSessions(withServer(application), { preload });
    await visited(running);
    if (preload) expect((await running.describe()).shows.sessions).toEqual(["connect-redis"]);
    const keys = (await redis.command("KEYS", "*")) as string[];
    expect(keys).toHaveLength(2);
    expect(keys.every((key) => key.startsWith(`shop${running.child.pid}:`))).toBe(true);
    const stats = String(await redis.command("INFO", "commandstats"));
    running.child.kill("SIGKILL");
    await running.exit();
    return stats.match(/^cmdstat_[^:]+:calls=\d+/gm)!.filter((line) => !line.startsWith("cmdstat_info"));
  }
});

describe.runIf(requirement("postgresql", postgresFound))("connect-pg-simple", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  const applications: SessionApplication[] = (["express", "fastify"] as const).flatMap((framework) =>
    (["ESM", "CommonJS"] as const).map((format) => ({
      framework,
      format,
      imports: [
        ["pg", "pg"],
        ["connectPg", "connect-pg-simple"],
        ["expressSession", "express-session"],
      ] as const,
      setup: `
        const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, max: 1 });
        const schemaName = "shop" + process.pid;
        pool.query("CREATE SCHEMA " + schemaName);
        const sent = [];
        const { query } = pool;
        pool.query = function (text, ...rest) {
          sent.push([text.text ?? text, rest[0]?.length].join().replaceAll(schemaName, ""));
          return query.call(this, text, ...rest);
        };
        const store = new (connectPg(expressSession))({ pool, schemaName, createTableIfMissing: true });
      `,
      kind: "connect-pg-simple",
      adapter: ["connectPgSimpleSessions", "adapters/sessions/connect-pg-simple/index.ts"] as const,
    })),
  );
  const withServer = (application: SessionApplication) => ({ ...application, env: { POSTGRES_URL: postgres.url } });

  test.for(applications)("$framework, $format: found as with explicit wiring", (application) =>
    expectAsExplicit(withServer(application)),
  );

  test.for([applications[0]!, applications[3]!])("$framework: found in a process that runs already", (application) =>
    expectAttached(withServer(application)),
  );

  test("PostgreSQL is sent what it is sent without us, until an operator asks", async () => {
    const code = 'app.get("/sent", (req, res) => res.json(sent));';
    const [with_, without] = await Promise.all(
      [true, false].map(async (preload) => {
        const running = runSessions({ ...withServer(applications[0]!), code }, { preload });
        const [visit] = await visited(running);
        if (preload) expect((await running.describe()).shows.sessions).toEqual(["connect-pg-simple"]);
        return JSON.parse(await visit!("/sent"));
      }),
    );
    expect(with_).toEqual(without);
    expect(with_.join()).toContain("INSERT INTO");
  });
});
