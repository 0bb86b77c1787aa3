import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { cli, without } from "../cli/cli-process.ts";
import { authority } from "../support/certificates.ts";
import { folderWith } from "./folder.ts";

const file = (content: object | string) => join(folderWith({ "actuator.json": content }), "actuator.json");

describe("config check", () => {
  test("prints what is in force and who says it, without secrets", async () => {
    const config = file({
      name: "shop",
      sessions: { store: { redis: "redis://user:s3cret@cache:6379" }, idKey: "s3cret-s3cret-s3cret" },
    });
    const env = { ACTUATOR_LISTEN_PORT: "9002" };
    const { code, stdout, stderr } = await cli(["config", "check", "--config", config], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = Object.fromEntries(
      stdout
        .split("\n")
        .map((line) => line.split(/ {2,}/))
        .map(([name, ...rest]) => [name, rest]),
    );
    expect(rows).toMatchObject({
      SETTING: ["VALUE", "FROM"],
      name: ["shop", "actuator.json:2:11"],
      "sessions.store.redis": ["redis://***@cache:6379", "actuator.json:5:16"],
      "sessions.idKey": ["<hidden>", "actuator.json:7:14"],
      "listen.port": ["9002", "ACTUATOR_LISTEN_PORT"],
      "listen.host": ["127.0.0.1", "default"],
      "limits.drainDeadlineMs": ["10000", "default"],
    });
    expect(stdout).not.toContain("s3cret");
  });

  test("as JSON, for programs", async () => {
    const { code, stdout } = await cli(["config", "check", "--json"], {
      env: { ACTUATOR_NAME: "shop", ACTUATOR_GRAPH: "true" },
    });
    expect(code).toBe(0);
    const { valid, settings } = JSON.parse(stdout);
    expect(valid).toBe(true);
    expect(settings).toContainEqual({ setting: "name", value: "shop", from: "ACTUATOR_NAME" });
  });

  test("finds a tokens file and a key that serve refuses", async () => {
    const issuer = await authority();
    const [one, other] = [await issuer.issue("server"), await issuer.issue("server")];
    const folder = folderWith({
      "tokens.json": { version: 1, tokens: [{ name: "ann" }] },
      "tls.crt": one.cert,
      "tls.key": other.key,
      "actuator.json": {
        graph: true,
        access: { tokens: "tokens.json" },
        listen: { tls: { cert: "tls.crt", key: "tls.key" } },
      },
    });
    const { code, stderr } = await cli(["config", "check", "--config", join(folder, "actuator.json")]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/actuator\.json:\d+:\d+: access\.tokens: /);
    expect(stderr).toMatch(/actuator\.json:\d+:\d+: listen\.tls/);
  });

  test.each([
    ["redis", "redis", "redis://u:s3cret@127.0.0.1:1"],
    ["pg", "postgres", "postgres://u:s3cret@127.0.0.1:1/x"],
  ])("names the package %s of a store if it is not installed", async (name, database, address) => {
    const config = file({ sessions: { store: { [database]: address } } });
    const args = ["config", "check", "--config", config];
    expect(await cli(args)).toMatchObject({ code: 0, stderr: "" });
    expect(await cli(args, { env: without(name) })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `actuator.json:4:${database.length + 11}: sessions.store.${database}: the session store needs the package ${name}, which is not installed beside connect-actuator: npm install ${name}\n`,
    });
  });

  test("lists all faults of lists and of a tokens file, each with its place", async () => {
    const folder = folderWith({
      "tokens.json": { version: 1, tokens: [{ name: "ann" }] },
      "actuator.json": { graph: true, access: { tokens: "tokens.json" } },
      "lists.json": {
        access: {
          certificates: [
            { commonName: "", permissions: ["*"] },
            { commonName: "a", permissions: ["all"] },
          ],
        },
        fleet: { redis: "redis://a", peers: { hosts: ["10.0.0.7", "http://c"] } },
      },
    });
    const faultsIn = async (name: string) => {
      const { code, stderr } = await cli(["config", "check", "--config", join(folder, name)]);
      expect(code).toBe(1);
      return stderr.trimEnd().split("\n");
    };
    expect(await faultsIn("actuator.json")).toEqual(
      ["id", "hash", "permissions"].map((key) => `actuator.json:4:15: access.tokens: tokens[0] has no ${key}`),
    );
    expect(await faultsIn("lists.json")).toEqual([
      "lists.json:5:23: access.certificates entry 0.commonName must be a non-empty string",
      expect.stringMatching(/^lists.json:13:11: access.certificates entry 1.permissions entry 0 must be one of/),
      expect.stringMatching(/^lists.json:23:\d+: fleet.peers.hosts entry 1 must be a host name without a port/),
    ]);
  });

  test("lists everything that is wrong, and exits with 1", async () => {
    const config = file({ nmae: "shop", limits: { maxConections: 1 } });
    const env = { ACTUATOR_LISTEN_PORT: "http" };
    expect(await cli(["config", "check", "--config", config], { env })).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: [
        'actuator.json:2:11: Unknown setting "nmae"; did you mean "name"?',
        'actuator.json:4:22: Unknown setting "limits.maxConections"; did you mean "maxConnections"?',
        "ACTUATOR_LISTEN_PORT: must be a whole number",
        "",
      ].join("\n"),
    });
    const { code, stdout } = await cli(["config", "check", "--json", "--config", config], { env });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      valid: false,
      faults: [{ setting: "name" }, { setting: "limits.maxConnections" }, { setting: "listen.port" }],
    });
  });

  test("lists what is wrong alone, together, for a sidecar and on the disk at once, and serve lists the same", async () => {
    const config = file({
      nmae: "shop",
      loggers: { maxTtlMs: "1h" },
      listen: { tls: { cert: "cert.pem" } },
      sessions: { store: { redis: "redis://cache", table: "session" } },
    });
    const env = { ACTUATOR_LISTEN_HOST: "0.0.0.0" };
    const checked = await cli(["config", "check", "--config", config], { env });
    const lines = checked.stderr.trimEnd().split("\n");
    expect({ code: checked.code, lines }).toEqual({
      code: 1,
      lines: [
        'actuator.json:2:11: Unknown setting "nmae"; did you mean "name"?',
        "actuator.json:7:12: listen.tls.key: `tls` has no `key`; TLS needs one",
        expect.stringMatching(/^ACTUATOR_LISTEN_HOST: listen.host: refused to listen on "0.0.0.0"/),
        expect.stringMatching(/^actuator.json:14:16: sessions.store has table, which redis with the layout "connect"/),
        "actuator.json:3:14: loggers belong to a fleet here: set fleet.redis, for example",
        `actuator.json:8:15: listen.tls.cert: there is no file ${join(config, "..", "cert.pem")}`,
      ],
    });
    expect(await cli(["serve", "--config", config], { env })).toMatchObject({
      code: 1,
      stderr: `connect-actuator: cannot start: ${lines.join("\n  ")}\n`,
    });
  });

  test("tells what a sidecar cannot be made of, and what an application has in code", async () => {
    const store = { redis: "redis://cache", postgres: "postgres://db/x" };
    const config = file({ sessions: { store }, fleet: {} });
    expect(await cli(["config", "check", "--config", config])).toMatchObject({
      code: 1,
      stderr:
        "actuator.json:8:12: fleet has no engine: set fleet.redis, fleet.postgres, fleet.nats or fleet.serve to its address\nactuator.json:3:14: sessions.store must have either redis or postgres, a URL\n",
    });
    const { code, stderr } = await cli(["config", "check", "--application", "--config", config]);
    expect(code).toBe(1);
    expect(stderr).toContain('"sessions.store" is for connect-actuator serve; an application passes it in code');
  });

  test("tells which files and folders that it names are not there", async () => {
    const tls = { cert: "cert.pem", key: "-----BEGIN PRIVATE KEY-----" };
    const jwt = { jwks: "https://id.example/jwks", issuer: "i", audience: "a" };
    const config = file({
      listen: { tls },
      access: { jwt },
      audit: { file: "logs/audit.log" },
      loggers: { state: "made.json" },
      fleet: { redis: "redis://a" },
    });
    const env = { ACTUATOR_ACCESS_TOKENS: "/nowhere/tokens.json" };
    expect(await cli(["config", "check", "--config", config], { env })).toMatchObject({
      code: 1,
      stderr: [
        "ACTUATOR_ACCESS_TOKENS: access.tokens: there is no file /nowhere/tokens.json",
        `actuator.json:16:13: audit.file: there is no folder ${join(config, "..", "logs")}`,
        `actuator.json:4:15: listen.tls.cert: there is no file ${join(config, "..", "cert.pem")}`,
        "",
      ].join("\n"),
    });
  });

  test.each([
    [["config", "check", "--config", "/nowhere.json"], {}],
    [["config", "check"], { ACTUATOR_CONFIG: "/nowhere.json" }],
    [["config", "check", "--confg", "x"], {}],
    [["config", "frobnicate"], {}],
  ])("%j %j is a wrong command line", async (args, env) => expect((await cli(args, { env })).code).toBe(2));
});

test("config schema prints what editors need", async () => {
  const { code, stdout } = await cli(["config", "schema"]);
  expect(code).toBe(0);
  const schema = JSON.parse(stdout);
  const validate = new Ajv2020({ strict: false }).compile(schema);
  expect(validate({ name: "shop", fleet: { redis: "redis://a:6379" } })).toBe(true);
  expect(validate({ nmae: "shop" })).toBe(false);
  expect(schema.properties.listen.properties.port.description).toContain("ACTUATOR_LISTEN_PORT");
});
