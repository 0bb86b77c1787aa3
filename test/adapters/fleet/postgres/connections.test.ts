import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { FLEET_TABLES, postgresFleet } from "../../../../src/adapters/fleet/postgres/index.ts";
import { type FleetEngine, FleetRefusal } from "../../../../src/fleet/engine.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { until } from "../../../support/until.ts";

const entry = pathToFileURL(`${import.meta.dirname}/../../../../src/adapters/fleet/postgres/index.ts`).href;

describe.runIf(requirement("postgresql", postgresFound))("connections of postgresFleet", () => {
  let server: PostgresServer;
  let fleets = 0;

  beforeAll(async () => {
    server = await startPostgres();
    await server.query(FLEET_TABLES);
  });
  afterAll(() => server.stop());

  function open(url = server.url): FleetEngine {
    const engine = postgresFleet(url).open(`f${++fleets}`);
    onTestFinished(() => engine.close());
    return engine;
  }

  const works = (engine: FleetEngine) =>
    engine.exchange("", { id: "a", text: "" }).then(
      () => true,
      () => false,
    );

  const answers = (engine: FleetEngine) =>
    engine.exchange("").then(
      () => true,
      () => false,
    );

  const count = async () =>
    (await server.query("select 1 from pg_stat_activity where application_name = 'connect-actuator fleet'")).length;

  /** Listens as the server would. `accept` decides what becomes of a connection. */
  async function listen(accept: (socket: Socket) => void): Promise<string> {
    const gate = createServer((socket) => {
      socket.on("error", () => {});
      onTestFinished(() => void socket.destroy());
      accept(socket);
    });
    gate.listen(0, "127.0.0.1");
    await once(gate, "listening");
    onTestFinished(() => void gate.close());
    return `postgres://postgres@127.0.0.1:${(gate.address() as AddressInfo).port}/postgres`;
  }

  test("is one, closed by a reset and at the end", async () => {
    const engine = open();
    await until(() => works(engine));
    for (let round = 0; round < 5; round++) {
      await engine.reset();
      await engine.reset();
      await until(() => works(engine));
    }
    await until(async () => (await count()) === 1);
    await engine.close("a");
    await until(async () => (await count()) === 0);
    expect(await works(engine)).toBe(false);
  });

  test("give an empty hint after they were lost", async () => {
    const engine = open();
    const heard: (string | undefined)[] = [];
    engine.onHint((hint) => heard.push(hint));
    await until(() => works(engine));
    const before = heard.length;
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%fleet'");
    await until(() => heard.length > before);
    expect(heard.at(-1)).toBeUndefined();
    await until(() => works(engine));
  });

  test("leave a server that only reads", async () => {
    await server.query("alter role postgres set default_transaction_read_only = on");
    const engine = open();
    await until(() => answers(engine));
    const refused = engine.exchange("", { id: "a", text: "" });
    await expect(refused).rejects.toThrow(/accepts no changes: it is a standby/);
    await expect(refused).rejects.toBeInstanceOf(FleetRefusal);
    // Of new connections alone, as if the address led to another server.
    await server.query("begin read write; alter role postgres reset default_transaction_read_only; commit");
    await until(() => works(engine));
  });

  test("are used for one statement at a time", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const engine = open();
    await until(() => works(engine));
    await Promise.all([works(engine), engine.instances(), engine.store({ version: "1", text: "{}" }, "", "")]);
    await engine.close("a");
    expect(warned.mock.calls.map(String)).toEqual([]);
    warned.mockRestore();
  });

  test("that are not made yet end with the engine", async () => {
    const states: string[] = [];
    const url = await listen((socket) => {
      states.push("open");
      socket.resume().on("close", () => states.push("closed"));
    });
    const engine = open(url);
    await until(() => states.length > 0);
    const late = performance.now() + 1_000;
    await engine.close("a");
    await until(() => states.length > 1 || performance.now() > late);
    expect(states).toEqual(["open", "closed"]);
  });

  test("do not show the password of a user that is refused", async () => {
    const engine = open(server.url.replace("postgres@", "someone:hidden-word@"));
    const failure = () =>
      engine.exchange("").then(
        () => "",
        (error: Error) => `${error.message} ${error.stack} ${JSON.stringify(error)}`,
      );
    await until(async () => (await failure()).includes('role "someone" does not exist'));
    expect(await failure()).not.toContain("hidden-word");
    await expect(engine.exchange("")).rejects.toBeInstanceOf(FleetRefusal);
  });

  test.each(["there", "away", "silent"])("do not keep the process alive if the server is %s", async (state) => {
    let accepted = false;
    const silent = await listen((socket) => {
      accepted = true;
      socket.resume();
    });
    const url = { there: server.url, away: "postgres://127.0.0.1:1/postgres", silent }[state]!;
    const script = `import { postgresFleet } from ${JSON.stringify(entry)};
      const engine = postgresFleet(${JSON.stringify(url)}).open("exit");
      const hold = setTimeout(() => {}, 60_000);
      const seen = new Promise((resolve) => engine.onHint(resolve));
      if (${state === "there"}) await seen;
      if (${state === "silent"}) await new Promise((resolve) => process.once("message", resolve));
      process.disconnect();
      clearTimeout(hold);
      console.log("done");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout!.on("data", (data) => (output += data));
    if (state === "silent") {
      await until(() => accepted);
      child.send("end");
    }
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(output).toBe("done\n");
  });
});

test.each(["postgres://one,two/shop", "postgresql://ann:secret@one:5432,two:5433/shop"])("%s is refused", (url) => {
  expect(() => postgresFleet(url)).toThrow("postgresFleet takes one address, not several");
});
