import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { natsFleet } from "../../../../src/adapters/fleet/nats/index.ts";
import { type FleetEngine, FleetRefusal } from "../../../../src/fleet/engine.ts";
import { type NatsServer, natsFound, startNats } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { until } from "../../../support/until.ts";

const entry = pathToFileURL(`${import.meta.dirname}/../../../../src/adapters/fleet/nats/index.ts`).href;

const works = (engine: FleetEngine) =>
  engine.exchange("", { id: "a", text: "" }).then(
    () => true,
    () => false,
  );

const failureOf = (engine: FleetEngine) =>
  engine.exchange("").then(
    () => "",
    (error: Error) => `${error.message} ${error.stack} ${JSON.stringify(error)}`,
  );

/** Starts a server with users, whose password is `secret`, and what they may do; undefined: everything. */
async function startNatsWith(users: Readonly<Record<string, object | undefined>>): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-nats-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const listed = Object.entries(users).map(([user, permissions]) => ({ user, password: "secret", permissions }));
  const file = join(folder, "users.conf");
  writeFileSync(file, JSON.stringify({ authorization: { users: listed } }));
  return startNats({ args: ["-c", file] });
}

describe.runIf(requirement("nats-server", natsFound))("connections of natsFleet", () => {
  let server: NatsServer;
  let own: NatsConnection;
  let fleets = 0;

  beforeAll(async () => {
    server = await startNats();
    own = await connect({ servers: server.url });
  });
  afterAll(async () => {
    await own.close();
    await server.stop();
  });

  function open(given: Parameters<typeof natsFleet>[0] = server.url, fleet = `f${++fleets}`): FleetEngine {
    const engine = natsFleet(given).open(fleet);
    onTestFinished(() => engine.close());
    return engine;
  }

  test("tell that a full bucket has refused", async () => {
    const engine = open();
    await until(() => works(engine));
    const { streams } = await jetstreamManager(own);
    await streams.update(`KV_ca_f${fleets}`, { max_bytes: 10 });
    const refused = engine.store({ version: "1", text: "{}" }, "", "");
    await expect(refused).rejects.toBeInstanceOf(FleetRefusal);
    await streams.update(`KV_ca_f${fleets}`, { max_bytes: -1 });
    expect(await engine.store({ version: "1", text: "{}" }, "", "")).toBe(true);
  });

  test("give an empty hint, and the document, after a bucket was lost", async () => {
    const engine = open();
    const heard: (string | undefined)[] = [];
    engine.onHint((hint) => heard.push(hint));
    await until(() => works(engine));
    expect(await engine.store({ version: "1", text: "{}" }, "", "first")).toBe(true);
    await until(() => heard.includes("first"));
    const manager = await jetstreamManager(own);
    for (const bucket of [`KV_ca_f${fleets}`, `KV_ca_f${fleets}_instances`]) await manager.streams.delete(bucket);
    heard.length = 0;
    expect(await works(engine)).toBe(false);
    await until(() => works(engine));
    expect(heard).toEqual([undefined]);
    expect((await engine.exchange("?")).document).toEqual({ version: "", text: "" });
  });

  test("do not take a revision for the version", async () => {
    const engine = open();
    await until(() => works(engine));
    expect(await engine.store({ version: "old", text: "1" }, "", "")).toBe(true);
    const bucket = await new Kvm(own).open(`ca_f${fleets}`);
    await bucket.delete("state");
    expect((await engine.exchange("?")).document?.version).toBe("");
    expect(await engine.store({ version: "new", text: "2" }, "old", "")).toBe(false);
    expect(await engine.store({ version: "new", text: "2" }, "", "")).toBe(true);
  });

  test("keep fleets apart whose names are alike", async () => {
    const names = ["a.b", "a_b", "a_db", "a__b", "a", "a_instances", "a.instances", ".a", "a."];
    const engines = names.map((name) => open(server.url, name));
    for (const [at, engine] of engines.entries()) {
      await until(() => works(engine));
      expect((await engine.exchange("?")).document?.version).toBe("");
      expect(await engine.store({ version: names[at]!, text: "{}" }, "", "")).toBe(true);
    }
    for (const engine of engines) expect(await engine.instances()).toHaveLength(1);
  });

  test("refuse what the server would not accept, and stay", async () => {
    const engine = open();
    await until(() => works(engine));
    const large = "x".repeat(1_100_000);
    await expect(engine.store({ version: "1", text: large }, "", "")).rejects.toThrow(
      /^The document of the fleet needs a message of 11\d{5} bytes. The NATS server accepts 1048576;/,
    );
    await expect(engine.exchange("", { id: "a", text: large })).rejects.toThrow(/^The report of this instance needs/);
    expect(await works(engine)).toBe(true);
    expect(await engine.store({ version: "1", text: "{}" }, "", large)).toBe(true);
    expect(await works(engine)).toBe(true);
  });

  test("say that credentials are refused, without showing them", async () => {
    await using closed = await startNats({ args: ["--user", "ann", "--pass", "secret"] });
    const refused = open(`nats://ann:hidden-word@${closed.url}`);
    await until(async () => /NATS is not ready: .*authorization/i.test(await failureOf(refused)));
    expect(await failureOf(refused)).not.toContain("hidden-word");
    await expect(refused.exchange("")).rejects.toBeInstanceOf(FleetRefusal);
    const accepted = open(`nats://ann:secret@${closed.url}`);
    await until(() => works(accepted));
  });

  test("need only the documented permissions, and say which one is missing", async () => {
    const publish = [
      ...["KV_ca_shop", "KV_ca_shop_instances"].flatMap((stream) =>
        ["STREAM.INFO", "STREAM.MSG.GET"].map((call) => `$JS.API.${call}.${stream}`),
      ),
      ...["$KV.ca_shop.state", "$KV.ca_shop_instances.*", "ca.shop.hint"],
    ];
    const subscribe = ["_INBOX.>", "ca.shop.hint"];
    const without = (subject: string) => publish.filter((each) => each !== subject);
    await using guarded = await startNatsWith({
      admin: undefined,
      fleet: { publish, subscribe },
      deaf: { publish, subscribe: ["_INBOX.>"] },
      reader: { publish: without("$KV.ca_shop.state"), subscribe },
    });
    const as = (user: string) => open(`nats://${user}:secret@${guarded.url}`, "shop");
    const admin = as("admin");
    await until(() => works(admin));
    const fleet = as("fleet");
    const heard: (string | undefined)[] = [];
    fleet.onHint((hint) => heard.push(hint));
    await until(() => works(fleet));
    expect(await fleet.store({ version: "1", text: "{}" }, "", "changed")).toBe(true);
    await until(() => heard.includes("changed"));
    expect(await fleet.instances()).toHaveLength(1);
    const reader = as("reader");
    await until(() => works(reader));
    await expect(reader.store({ version: "2", text: "{}" }, "1", "")).rejects.toBeInstanceOf(FleetRefusal);
    const deaf = as("deaf");
    await until(async () => /NATS is not ready: .*ca\.shop\.hint/.test(await failureOf(deaf)));
    await expect(deaf.exchange("")).rejects.toBeInstanceOf(FleetRefusal);
  });

  describe("of a server that is silent from the start", () => {
    const sockets = new Set<Socket>();
    let silent: Server;
    let url: string;

    beforeAll(async () => {
      silent = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => {}).on("close", () => sockets.delete(socket));
        socket.resume();
      }).listen(0, "127.0.0.1");
      await once(silent, "listening");
      url = `127.0.0.1:${(silent.address() as { port: number }).port}`;
    });
    afterAll(() => silent.close());

    test("are closed by a reset and at the end", async () => {
      const engine = natsFleet(url).open("silent");
      await until(() => sockets.size === 1);
      const [first] = sockets;
      await engine.reset();
      await until(() => sockets.size === 1 && !sockets.has(first!));
      await engine.close("a");
      await until(() => sockets.size === 0);
    });
  });

  test.each(["there", "away"])("do not keep the process alive if the server is %s", async (state) => {
    const url = state === "there" ? server.url : "127.0.0.1:1";
    const script = `import { natsFleet } from ${JSON.stringify(entry)};
      const engine = natsFleet("${url}").open("exit");
      const hold = setTimeout(() => {}, 60_000);
      const seen = new Promise((resolve) => engine.onHint(resolve));
      if (${state === "there"}) await seen;
      clearTimeout(hold);
      console.log("done");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(output).toBe("done\n");
  });
});

test("need the packages", async () => {
  vi.resetModules();
  vi.doMock("@nats-io/kv", () => {
    throw new Error("Cannot find package '@nats-io/kv'");
  });
  onTestFinished(() => void vi.doUnmock("@nats-io/kv"));
  const { natsFleet: fresh } = await import("../../../../src/adapters/fleet/nats/index.ts");
  const engine = fresh("127.0.0.1:1").open("packages");
  onTestFinished(() => engine.close());
  await until(async () =>
    (await failureOf(engine)).includes("npm install @nats-io/transport-node @nats-io/jetstream @nats-io/kv"),
  );
});

test.each(["", "redis://user:hidden-word@host", "nats://user:hidden-word@ho st", [], [5], null, 5, { publish() {} }])(
  "%j is refused, without a password",
  (given) => {
    expect(() => natsFleet(given as never)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.not.stringContaining("hidden-word") }),
    );
  },
);
