// @module-tag slow
import { writeFile } from "node:fs/promises";
import connectPgSimple from "connect-pg-simple";
import session from "express-session";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startApplication } from "../adapters/sessions/connect-redis/application.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { CliProcess, cli, without } from "./cli-process.ts";
import { scriptFound, typed } from "./terminal.ts";

const lines = (text: string) => text.trimEnd().split("\n");

describe("sessions prepare", () => {
  test.each([
    [[], /takes --postgres or --redis/],
    [["--postgres", "x", "--redis", "y"], /cannot be used with/],
    [["--redis", "redis://127.0.0.1", "--table", "t"], /cannot be used with/],
    [["--postgres", "postgres://127.0.0.1", "--prefix", "t"], /cannot be used with/],
    [["--postgres", "postgres://127.0.0.1", "--restart"], /cannot be used with/],
    [["--postgres"], /or that of DATABASE_URL, which is not set/],
    [["--redis"], /or that of REDIS_URL, which is not set/],
    [["--redis", "-"], /standard input has no URL/],
    [["--redis", "redis://127.0.0.1", "--principal", "passport..user"], /paths such as/],
    [["--redis", "redis://127.0.0.1", "--ttl", "0"], /seconds/],
    [["--redis", "http://secret@127.0.0.1"], /URL of Redis/],
    [["--postgres", "mysql://u:secret@127.0.0.1"], /URL of PostgreSQL/],
  ])("with %j is a wrong command line", async (args, said) => {
    const env = { DATABASE_URL: "", REDIS_URL: "" };
    const ended = await cli(["sessions", "prepare", ...args], { env });
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(said) });
    expect(ended.stderr).not.toContain("secret");
  });

  test.each([
    ["--redis", "redis://127.0.0.1:1"],
    ["--postgres", "postgres://postgres@127.0.0.1:1/postgres"],
  ])("%s distinguishes an unreachable store from a refusal", async (flag, url) => {
    const ended = await cli(["sessions", "prepare", flag, url]);
    expect(ended).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(/^connect-actuator: .+: ECONNREFUSED\n$/),
    });
  });

  test.each([
    ["--redis", "redis://127.0.0.1:1", "redis"],
    ["--postgres", "postgres://127.0.0.1:1/x", "pg"],
  ])("%s says what to install if the package is missing", async (flag, url, name) => {
    const ended = await cli(["sessions", "prepare", flag, url], { env: without(name) });
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`npm install ${name}\n`) });
  });
});

describe.runIf(requirement("redis-server", redisFound))("sessions prepare --redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => void (await server.command("FLUSHALL")));

  /** An application that has no index; Alice is logged in twice, and a guest has a basket. */
  async function logIn(prefix?: string) {
    const store = prefix === undefined ? {} : { store: { prefix } };
    const application = await startApplication(server.url, { sessions: false, ...store });
    onTestFinished(() => application.close());
    for (const path of ["/login/alice", "/login/alice", "/basket"]) await application.browser().post(path);
  }

  const indexKeys = async (prefix: string) => (await server.command("KEYS", `${prefix}*`)) as string[];

  test("adds the existing sessions to the index, which is then complete", async () => {
    await logIn();
    const ended = await cli(["sessions", "prepare", "--redis", server.url]);
    expect(ended).toEqual({
      code: 0,
      signal: null,
      stdout: "indexed 3 sessions, 2 with a user\n",
      stderr: "Searches now find all sessions, if every process that writes sessions keeps the index.\n",
    });
    const json = await cli(["sessions", "prepare", "--json", "--redis", "-"], { input: `${server.url}\n` });
    expect(JSON.parse(json.stdout)).toMatchObject({ sessions: 3, users: 2, complete: true });
    expect((await indexKeys("actuator:sessions:")).length).toBeGreaterThan(0);
  });

  test("warns if Redis may evict the index", async () => {
    await logIn();
    await server.command("CONFIG", "SET", "maxmemory", "100mb");
    await server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const ended = await cli(["sessions", "prepare", "--redis", server.url]).finally(() =>
      server.command("CONFIG", "SET", "maxmemory", "0"),
    );
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .* allkeys-lru\./) });
  });

  test("takes prefixes and a principal of the application's own", async () => {
    await logIn("shop:");
    const args = ["--prefix", "shop:", "--index-prefix", "idx:", "--principal", "not.here,either"];
    const ended = await cli(["sessions", "prepare", "--redis", ...args], { env: { REDIS_URL: server.url } });
    expect(ended).toMatchObject({ code: 0, stdout: "indexed 3 sessions, 0 with a user\n" });
    expect((await indexKeys("idx:")).length).toBeGreaterThan(0);
    expect(await indexKeys("actuator:")).toEqual([]);
  });

  test.each([
    [[], "sess:"],
    [["--prefix", "shop:"], "shop:"],
  ])("says with %j that there is no key of the store", async (args, prefix) => {
    const ended = await cli(["sessions", "prepare", "--dry-run", "--redis", server.url, ...args]);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`No key begins with ${prefix} there`) });
  });

  test("writes nothing in a dry run", async () => {
    await logIn();
    const ended = await cli(["sessions", "prepare", "--redis", server.url, "--dry-run"]);
    expect(ended).toMatchObject({
      code: 0,
      stdout: "found 3 sessions, 2 with a user\n",
      stderr: "Nothing was written.\n",
    });
    expect(await indexKeys("actuator:")).toEqual([]);
  });

  test.each([["continues after Ctrl-C"], ["starts over after Ctrl-C with", "--restart"]])(
    "%s %s",
    async (_, ...args) => {
      await logIn();
      const record = JSON.stringify({ cookie: { originalMaxAge: 60_000, expires: new Date(Date.now() + 60_000) } });
      const many = 40_000;
      const sids = Array.from({ length: many }, (_, index) => [`sess:${index}`, record]);
      for (let at = 0; at < many; at += 1_000) await server.command("MSET", ...sids.slice(at, at + 1_000).flat());
      const running = new CliProcess(["sessions", "prepare", "--redis", server.url]);
      await expect.poll(() => indexKeys("actuator:sessions:")).not.toEqual([]);
      running.signal("SIGINT");
      const broken = await running.ended();
      expect(broken).toMatchObject({ code: 130, stderr: "Interrupted: the next run continues here.\n" });
      const before = Number(/indexed ([\d,]+) sessions/.exec(broken.stdout)![1]!.replace(",", ""));
      expect(before).toBeLessThan(many);
      const json = await cli(["sessions", "prepare", "--json", ...args, "--redis", server.url]);
      const result = JSON.parse(json.stdout);
      expect(result).toMatchObject({ resumed: args.length === 0, complete: true });
      expect(result.sessions).toBeGreaterThanOrEqual(many);
    },
  );

  test.runIf(requirement("script, of util-linux,", scriptFound))("shows the progress on a terminal", async () => {
    await logIn();
    const command = typed(["sessions", "prepare", "--redis", server.url]);
    expect(await command.ended()).toMatchObject({
      code: 0,
      shown: expect.stringMatching(/Ctrl-C breaks off.*indexed 3 sessions/s),
    });
  });

  test("of a server that asks for a password does not repeat the wrong one", async () => {
    await server.command("ACL", "SETUSER", "guarded", "on", ">right", "~*", "+@all");
    const url = server.url.replace("//", "//guarded:wrong@");
    const ended = await cli(["sessions", "prepare", "--redis", "-"], { input: url });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^connect-actuator: Redis refuses the connection's user name or password/);
    expect(ended.stderr).not.toMatch(/wrong@|guarded/);
    const typedUrl = await cli(["sessions", "prepare", "--redis", url.replace("wrong", "right"), "--dry-run"]);
    expect(typedUrl).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: other users of this machine may see/),
    });
    expect(typedUrl.stderr).not.toContain("right@");
  });
});

describe.runIf(requirement("postgresql", postgresFound))("sessions prepare --postgres", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const PGStore = connectPgSimple(session);
  let schemas = 0;

  /** The schema of a table that the real store made. */
  async function schema(): Promise<string> {
    const schemaName = `shop${++schemas}`;
    await server.query(`CREATE SCHEMA ${schemaName}`);
    const pool = new pg.Pool({ connectionString: server.url });
    const options = { tableName: "logins", createTableIfMissing: true, pruneSessionInterval: false } as const;
    const store = new PGStore({ pool, schemaName, ...options });
    await new Promise((resolve) => store.get("none", resolve));
    await store.close();
    await pool.end();
    return schemaName;
  }

  const of = (name: string) => ["--schema", name, "--table", "logins"];
  const indexesOf = async (name: string): Promise<string[]> =>
    (await server.query("SELECT indexdef FROM pg_indexes WHERE schemaname = $1", [name])).map(
      ({ indexdef }) => indexdef,
    );

  test("creates what is missing, once, and removes it again", async () => {
    const name = await schema();
    const prepare = (...args: string[]) =>
      cli(["sessions", "prepare", "--postgres", ...of(name), ...args], { env: { DATABASE_URL: server.url } });
    const before = await indexesOf(name);
    const first = await prepare();
    expect(first).toMatchObject({ code: 0, stderr: "Done.\n" });
    expect(first.stdout).toMatch(/^done {6}The index of users\.$/m);
    expect((await indexesOf(name)).length).toBeGreaterThan(before.length);
    const second = await prepare();
    expect(second).toMatchObject({ code: 0, stderr: "There is nothing to do.\n" });
    expect(second.stdout).not.toMatch(/^done/m);
    expect(JSON.parse((await prepare("--json")).stdout)).toMatchObject({ changed: false });
    expect(await prepare("--remove")).toMatchObject({ code: 0, stderr: "Done.\n" });
    expect(await indexesOf(name)).toEqual(before);
  });

  test("prints SQL for psql in a dry run", async () => {
    const name = await schema();
    const args = ["sessions", "prepare", "--postgres", "-", ...of(name), "--dry-run", "--principal", "who.am,i"];
    const ended = await cli(args, { input: server.url });
    expect(ended).toMatchObject({ code: 0, stderr: "Nothing was changed.\n" });
    expect(await indexesOf(name)).toHaveLength(2);
    const statements = lines(ended.stdout).filter((line) => !line.startsWith("--"));
    expect(statements.join("\n")).toMatch(/'who'.*'am'/);
    for (const statement of statements) await server.query(statement);
    const after = await cli(args, { input: server.url });
    expect(after.stderr).toBe("There is nothing to do.\n");
    expect(lines(after.stdout).every((line) => line.startsWith("-- "))).toBe(true);
  });

  test("of a table that does not exist, or belongs to another, is refused", async () => {
    const missing = await cli(["sessions", "prepare", "--postgres", server.url, "--schema", "no", "--table", "such"]);
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^connect-actuator: .*table/) });
    await server.query("CREATE USER stranger; GRANT CONNECT ON DATABASE postgres TO stranger");
    const name = await schema();
    await server.query(`GRANT USAGE ON SCHEMA ${name} TO stranger`);
    const url = server.url.replace("postgres@", "stranger@");
    const refused = await cli(["sessions", "prepare", "--postgres", url, ...of(name)]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/no permission in PostgreSQL/) });
  });

  test("reports what the server itself refuses", async () => {
    await server.query(`CREATE SCHEMA parts;
      CREATE TABLE parts.logins (sid varchar, sess json, expire timestamp(6)) PARTITION BY HASH (sid)`);
    const ended = await cli(["sessions", "prepare", "--postgres", server.url, ...of("parts")]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the store answered: .*partitioned.* concurrently/),
    });
  });

  test("takes a password from the environment, and shows none", async () => {
    const name = await schema();
    const [{ hba_file: rules }] = await server.query("SHOW hba_file");
    await server.query(
      `CREATE USER guarded PASSWORD 'right'; ALTER TABLE ${name}.logins OWNER TO guarded; GRANT ALL ON SCHEMA ${name} TO guarded`,
    );
    await writeFile(rules, "host all guarded all scram-sha-256\nhost all all all trust\n");
    await server.query("SELECT pg_reload_conf()");
    const args = ["sessions", "prepare", "--postgres", server.url.replace("postgres@", "guarded@"), ...of(name)];
    await expect
      .poll(async () => (await cli(args, { env: { PGPASSWORD: "wrong" } })).stderr)
      .toMatch(/28P01|password authentication failed/);
    const refused = await cli(args, { env: { PGPASSWORD: "wrong" } });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).not.toContain("wrong");
    expect(await cli(args, { env: { PGPASSWORD: "right" } })).toMatchObject({ code: 0, stderr: "Done.\n" });
  });

  test.runIf(requirement("script, of util-linux,", scriptFound))("shows the elapsed time on a terminal", async () => {
    const name = await schema();
    const blocker = new pg.Client({ connectionString: server.url });
    await blocker.connect();
    onTestFinished(() => blocker.end());
    // Creating an index concurrently waits for transactions that have written.
    await blocker.query(`BEGIN; LOCK TABLE ${name}.logins IN ROW EXCLUSIVE MODE`);
    const command = typed(["sessions", "prepare", "--postgres", server.url, ...of(name)]);
    await command.shows(/The index of users\. [1-9]\d*s/);
    await blocker.query("COMMIT");
    expect(await command.ended()).toMatchObject({
      code: 0,
      shown: expect.stringContaining("done      The index of users."),
    });
  });
});
