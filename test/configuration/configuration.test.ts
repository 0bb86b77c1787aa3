import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ConfigurationSources, configuration, standaloneConfiguration } from "../../src/configuration/index.ts";
import { ActuatorError, type ActuatorOptions, createActuator, memorySessions } from "../../src/index.ts";
import { folderWith } from "./folder.ts";

function faultsOf(sources: ConfigurationSources, read = configuration): string[] {
  try {
    read(sources);
  } catch (error) {
    expect(error).toBeInstanceOf(ActuatorError);
    return (error as ActuatorError).faults.map(({ at, message }) => `${at}: ${message}`);
  }
  return [];
}

/** A file of YAML. */
function yaml(content: string, others: Readonly<Record<string, string>> = {}): string {
  return join(folderWith({ "actuator.yaml": content, ...others }), "actuator.yaml");
}

function file(content: string | object, others: Readonly<Record<string, string>> = {}): string {
  return join(folderWith({ "actuator.json": content, ...others }), "actuator.json");
}

describe("who wins", () => {
  test("the environment over the file, the file over code, setting by setting", () => {
    const { options, listen, settings } = configuration({
      options: { name: "code", version: "1.0.0", limits: { maxConnections: 1, drainGraceMs: 2 } },
      listen: { port: 1, host: "127.0.0.2" },
      file: file({ name: "file", limits: { maxConnections: 10, drainDeadlineMs: "5s" }, listen: { port: 2 } }),
      env: { ACTUATOR_LIMITS_MAX_CONNECTIONS: "100", ACTUATOR_LISTEN_PORT: "3" },
    });
    expect(options).toEqual({
      name: "file",
      version: "1.0.0",
      limits: { maxConnections: 100, drainGraceMs: 2, drainDeadlineMs: 5_000 },
    });
    expect(listen).toEqual({ port: 3, host: "127.0.0.2" });
    const from = Object.fromEntries(settings.map(({ setting, from }) => [setting, from]));
    expect(from).toMatchObject({
      name: "actuator.json:2:11",
      version: "options",
      "limits.maxConnections": "ACTUATOR_LIMITS_MAX_CONNECTIONS",
      "limits.drainDeadlineMs": "actuator.json:5:24",
      "limits.drainGraceMs": "options",
      "limits.pingTimeoutMs": "default",
      "listen.port": "ACTUATOR_LISTEN_PORT",
      "listen.host": "options",
      basePath: "default",
    });
  });

  test("nothing of what code passed is changed", () => {
    const options = Object.freeze({ limits: Object.freeze({ maxConnections: 1 }) });
    configuration({ options, env: { ACTUATOR_LIMITS_MAX_CONNECTIONS: "2" } });
    expect(options).toEqual({ limits: { maxConnections: 1 } });
  });

  test("lists are replaced as a whole", () => {
    const { options } = configuration({
      options: { trustedProxies: ["10.0.0.0/8", "127.0.0.1"] },
      env: { ACTUATOR_TRUSTED_PROXIES: "192.168.0.0/16, ::1" },
    });
    expect(options.trustedProxies).toEqual(["192.168.0.0/16", "::1"]);
  });

  test("a section that is a switch keeps its settings when it is switched on, and loses them when it is off", () => {
    const options = { otlp: { maxNodes: 5 } };
    expect(configuration({ options, env: { ACTUATOR_OTLP: "true" } }).options.otlp).toEqual({ maxNodes: 5 });
    expect(configuration({ options, env: { ACTUATOR_OTLP: "false" } }).options.otlp).toBe(false);
    expect(configuration({ env: { ACTUATOR_OTLP: "true", ACTUATOR_OTLP_MAX_NODES: "7" } }).options.otlp).toEqual({
      maxNodes: 7,
    });
    expect(faultsOf({ file: file({ otlp: false }), env: { ACTUATOR_OTLP_MAX_NODES: "7" } })).toEqual([
      "ACTUATOR_OTLP_MAX_NODES: otlp.maxNodes has no effect, because otlp is false",
    ]);
  });

  test("a section that a file has is on, also where it is empty or code says that it is off", () => {
    const path = file({ otlp: {}, metrics: { prometheus: false }, loggers: {}, cors: {} });
    const options = { otlp: false, metrics: false, loggers: { maxCreated: 1 } };
    expect(configuration({ options, file: path, env: {} }).options).toEqual({
      otlp: true,
      metrics: { prometheus: false },
      loggers: { maxCreated: 1 },
      cors: {},
    });
  });

  test("access is a word or a section, whichever the last source has", () => {
    const tokens = { ACTUATOR_ACCESS_TOKENS: "/tokens.json" };
    const loopback = { ACTUATOR_ACCESS: "loopback" };
    const section = file({ access: { tokens: "/tokens.json", basic: false } });
    const word = file({ access: "loopback" });
    expect(configuration({ file: word, env: {} }).options.access).toBe("loopback");
    expect(configuration({ options: { access: { basic: false } }, env: loopback }).options.access).toBe("loopback");
    expect(configuration({ file: section, env: loopback }).options.access).toBe("loopback");
    expect(configuration({ file: word, env: tokens }).options.access).toEqual({ tokens: "/tokens.json" });
    expect(configuration({ file: word, env: {} }).settings).toContainEqual({
      setting: "access",
      value: "loopback",
      from: "actuator.json:2:13",
    });
    const other = 'access must be "loopback" or an object of settings';
    expect(faultsOf({ file: file({ access: "localhost" }), env: {} })).toEqual([`actuator.json:2:13: ${other}`]);
    expect(faultsOf({ env: { ACTUATOR_ACCESS: "localhost" } })).toEqual([
      `ACTUATOR_ACCESS: ${other.replace("access ", "")}`,
    ]);
    expect(() => createActuator({ access: "localhost" as "loopback" })).toThrow(
      'createActuator.access must be "loopback" or an object of options such as { tokens, jwt, certificates, … }',
    );
  });

  test("a store that code passes gets the options of the environment", async () => {
    const store = memorySessions();
    const { options } = configuration({
      options: { sessions: store },
      env: { ACTUATOR_SESSIONS_ID_KEY: "0123456789abcdef" },
    });
    expect(options.sessions).toEqual({ store, idKey: "0123456789abcdef" });
    await createActuator(options).close();
  });

  test("a port of the environment wins over a socket of the file, and the reverse", () => {
    const path = file({ listen: { path: "a.sock", mode: "0660" } });
    expect(configuration({ file: path, env: { ACTUATOR_LISTEN_PORT: "1" } }).listen).toEqual({ port: 1 });
    const listen = { port: 1, host: "127.0.0.2" };
    const env = { ACTUATOR_LISTEN_PATH: "/run/a.sock" };
    expect(configuration({ listen, env }).listen).toEqual({ path: "/run/a.sock" });
    expect(faultsOf({ env: { ...env, ACTUATOR_LISTEN_PORT: "1" } })).toEqual([
      "ACTUATOR_LISTEN_PATH: listen.path: `path` cannot be combined with `port` or `host`",
    ]);
  });

  test("a host that others reach needs access, whoever says which", () => {
    const env = { ACTUATOR_LISTEN_HOST: "0.0.0.0" };
    expect(faultsOf({ env })).toEqual([
      expect.stringMatching(/^ACTUATOR_LISTEN_HOST: listen.host: refused to listen on "0.0.0.0": /),
    ]);
    expect(configuration({ options: { access: { tokens: "tokens.json" } }, env }).listen.host).toBe("0.0.0.0");
    expect(configuration({ env: { ...env, ACTUATOR_ACCESS_TOKENS: "tokens.json" } }).listen.host).toBe("0.0.0.0");
  });

  test("without anything the port is the one that the command line calls", () => {
    expect(configuration({ env: {} })).toMatchObject({ options: {}, listen: { port: 9001 } });
    expect(configuration({ env: { ACTUATOR_LISTEN_PATH: "/run/a.sock" } }).listen).toEqual({ path: "/run/a.sock" });
  });
});

describe("createActuator by itself", () => {
  test("reads no environment", async () => {
    process.env.ACTUATOR_NO_SUCH_SETTING = "1";
    try {
      await createActuator({}).close();
    } finally {
      delete process.env.ACTUATOR_NO_SUCH_SETTING;
    }
  });
});

describe("what the environment says", () => {
  test.each([
    ["ACTUATOR_NAME", "shop", { name: "shop" }],
    ["ACTUATOR_READ_ONLY", "TRUE", { readOnly: true }],
    ["ACTUATOR_HEARTBEAT_MS", "1m30s", { heartbeatMs: 90_000 }],
    ["ACTUATOR_HEARTBEAT_MS", "500", { heartbeatMs: 500 }],
    ["ACTUATOR_LOGGERS_DEFAULT_TTL_MS", "10m", { loggers: { defaultTtlMs: 600_000 } }],
    ["ACTUATOR_LOGGERS_GROUPS", '{"web":["a","b"]}', { loggers: { groups: { web: ["a", "b"] } } }],
    ["ACTUATOR_ACCESS_TOKENS", "/etc/tokens.json", { access: { tokens: "/etc/tokens.json" } }],
    ["ACTUATOR_ACCESS_ANONYMOUS", "info:read,loggers:read", { access: { anonymous: ["info:read", "loggers:read"] } }],
    ["ACTUATOR_CORS_ORIGINS", "https://a.example", { cors: { origins: ["https://a.example"] } }],
    ["ACTUATOR_NAME", "", {}],
  ])("%s=%s", (variable, value, options) => {
    expect(configuration({ env: { [variable]: value } }).options).toEqual(options);
  });

  test.each([
    ["ACTUATOR_LIMITS_MAX_CONNECTIONS", "many", "must be a whole number"],
    ["ACTUATOR_LIMITS_MAX_CONNECTIONS", "-1", "must be a whole number of at least 0, not -1"],
    [
      "ACTUATOR_HEARTBEAT_MS",
      "soon",
      "must be a duration such as 500ms, 90s, 10m or 1h30m, or a number of milliseconds",
    ],
    ["ACTUATOR_READ_ONLY", "yes", "must be true or false"],
    ["ACTUATOR_TRUSTED_PROXIES", "10.0.0.0/8,,::1", "must be non-empty strings separated by commas"],
    ["ACTUATOR_TRUSTED_PROXIES", "proxy", 'entry 0 must be an IP address or a network such as "10.0.0.0/8"'],
    ["ACTUATOR_LOGGERS_GROUPS", "web=a", 'must be JSON such as {"web":["shop.web","shop.api"]}'],
    ["ACTUATOR_LISTEN_PROT", "1", 'Unknown setting; did you mean "ACTUATOR_LISTEN_PORT"?'],
    ["ACTUATOR_PORT", "9001", 'Unknown setting; did you mean "ACTUATOR_LISTEN_PORT"?'],
    ["ACTUATOR_TOKENS", "x", 'Unknown setting; did you mean "ACTUATOR_ACCESS_TOKENS"?'],
    ["ACTUATOR_FROBNICATE", "x", "Unknown setting; connect-actuator config schema lists all"],
    [
      "ACTUATOR_SESSIONS_STORE_REDIS",
      "redis://a",
      '"sessions.store.redis" is for connect-actuator serve; an application passes it in code',
    ],
  ])("%s=%s is an error", (variable, value, message) => {
    expect(faultsOf({ env: { [variable]: value } })).toEqual([`${variable}: ${message}`]);
  });

  test("what Kubernetes injects for services called actuator and actuator-… is none of it, nor what the command line reads", () => {
    const env = {
      ACTUATOR_URL: "http://127.0.0.1:9001",
      ACTUATOR_TOKEN: "secret",
      ACTUATOR_CONFIG: "actuator.json",
      ACTUATOR_PORT: "tcp://10.0.0.11:9001",
      ACTUATOR_SERVICE_HOST: "10.0.0.11",
      ACTUATOR_SERVICE_PORT: "9001",
      ACTUATOR_SERVICE_PORT_HTTP: "9001",
      ACTUATOR_PORT_9001_TCP: "tcp://10.0.0.11:9001",
      ACTUATOR_PORT_9001_TCP_PROTO: "tcp",
      ACTUATOR_PORT_9001_TCP_PORT: "9001",
      ACTUATOR_PORT_9001_TCP_ADDR: "10.0.0.11",
      ACTUATOR_SHOP_SERVICE_HOST: "10.0.0.12",
      ACTUATOR_SHOP_PORT: "udp://10.0.0.12:53",
      ACTUATOR_SHOP_PORT_53_UDP_ADDR: "10.0.0.12",
      ACTUATOR_LISTEN_PORT: "tcp://10.0.0.13:80",
    };
    expect(configuration({ env })).toMatchObject({ options: {}, listen: { port: 9001 } });
  });
});

describe("what a file says", () => {
  test("paths count from its folder, addresses and absolute paths do not", () => {
    const path = file({
      loggers: { state: "levels.json" },
      access: { tokens: "/etc/tokens", jwt: { jwks: "https://id.example/jwks", issuer: "i", audience: ["a"] } },
      listen: { tls: { cert: "tls/cert.pem", key: "-----BEGIN PRIVATE KEY-----" } },
    });
    const { options, listen } = configuration({ file: path, env: {} });
    expect(options.loggers?.state).toBe(join(path, "..", "levels.json"));
    expect(options.access).toMatchObject({ tokens: "/etc/tokens", jwt: { jwks: "https://id.example/jwks" } });
    expect(listen.tls).toEqual({ cert: join(path, "..", "tls", "cert.pem"), key: "-----BEGIN PRIVATE KEY-----" });
  });

  test("everything that is wrong is told, each with its place", () => {
    const text = `{
  "$schema": "actuator.schema.json",
  "nmae": "shop",
  "limits": { "maxConections": 1, "drainGraceMs": "soon" },
  "maxTtlMs": 5,
  "loggers": null,
  "trustedProxies": ["nobody"],
  "sessions": { "store": {}, "idKey": "short" },
  "onError": "throw",
  "heartbeatMs": null
}`;
    const faults = faultsOf({ file: file(text), env: { ACTUATOR_READ_ONLY: "maybe" } });
    expect(faults).toEqual([
      'actuator.json:3:11: Unknown setting "nmae"; did you mean "name"?',
      'actuator.json:4:32: Unknown setting "limits.maxConections"; did you mean "maxConnections"?',
      "actuator.json:4:51: limits.drainGraceMs must be a duration such as 500ms, 90s, 10m or 1h30m, or a number of milliseconds",
      'actuator.json:5:15: Unknown setting "maxTtlMs"; did you mean "loggers.maxTtlMs"?',
      "actuator.json:6:14: loggers must be an object of settings",
      'actuator.json:7:22: trustedProxies entry 0 must be an IP address or a network such as "10.0.0.0/8"',
      'actuator.json:8:26: "sessions.store" is for connect-actuator serve; an application passes it in code',
      "actuator.json:8:39: sessions.idKey must be a random string of at least 16 characters, or as many bytes",
      "actuator.json:9:14: onError can only be passed in code",
      "actuator.json:10:18: heartbeatMs is null; leave it out",
      "ACTUATOR_READ_ONLY: must be true or false",
    ]);
  });

  test("a section that is not whole is told", () => {
    expect(faultsOf({ file: file({ access: { jwt: { jwks: "keys.json" } } }), env: {} })).toEqual([
      "actuator.json:3:12: access.jwt must have issuer, audience",
    ]);
  });

  test("settings that cannot be together are told beside those that are wrong, where they stand", () => {
    const path = file({
      listen: { port: "http", host: "0.0.0.0", tls: { cert: "-----BEGIN CERTIFICATE-----" } },
      access: { basic: true },
      admin: { url: "https://admin.example.com", username: "a" },
      limits: { maxConections: 1 },
    });
    const env = { ACTUATOR_ADMIN_CREDENTIALS_USERNAME: "b", ACTUATOR_LISTEN_TLS_CA: "-----BEGIN CERTIFICATE-----" };
    expect(faultsOf({ file: path, env })).toEqual([
      expect.stringMatching(/^actuator.json:3:13: listen.port must be a whole number/),
      'actuator.json:17:22: Unknown setting "limits.maxConections"; did you mean "maxConnections"?',
      "ACTUATOR_ADMIN_CREDENTIALS_USERNAME: admin.credentials must have username and password",
      "actuator.json:5:12: listen.tls.key: `tls` has no `key`; TLS needs one",
      expect.stringMatching(/^actuator.json:5:12: listen.tls.clientCertificate: `tls.ca` has no effect/),
      expect.stringMatching(/^actuator.json:4:13: listen.host: refused to listen on "0.0.0.0"/),
      expect.stringMatching(/^actuator.json:12:12: Spring Boot Admin would not find this actuator: 0.0.0.0 /),
    ]);
  });

  test.each<[content: object, env: NodeJS.ProcessEnv, fault: string]>([
    [{ access: { jwt: { jwks: "k", isuer: "i", audience: "a" } } }, {}, 'Unknown setting "access.jwt.isuer"'],
    [{ acess: { tokens: "tokens.json" }, listen: { host: "0.0.0.0" } }, {}, 'Unknown setting "acess"'],
    [{ listen: { host: "0.0.0.0" } }, { ACTUATOR_ACCES_TOKENS: "tokens.json" }, "Unknown setting"],
    [{ listen: { host: "0.0.0.0" } }, { ACTUATOR_ACCESS_TOKENS_FILE: "t" }, "Unknown setting"],
    [{ listen: { tls: { cert: "c", keyy: "k" } } }, {}, 'Unknown setting "listen.tls.keyy"'],
  ])("what a wrong setting leaves open is not told as well: %j, %j", (content, env, fault) => {
    expect(faultsOf({ file: file(content), env })).toEqual([expect.stringContaining(fault)]);
  });

  test("where several say a setting, the one who wins is told", () => {
    const path = file({ listen: { host: "127.0.0.1", tls: { cert: "c" } }, access: { jwt: { jwks: "k" } } });
    const env = { ACTUATOR_LISTEN_HOST: "::", ACTUATOR_ACCESS_JWT_ISSUER: "i" };
    expect(faultsOf({ file: path, env })).toEqual([
      "actuator.json:9:12: access.jwt must have audience",
      expect.stringMatching(/^actuator.json:4:12: listen.tls.key: /),
    ]);
    const open = file({ listen: { host: "127.0.0.1" } });
    expect(faultsOf({ file: open, env: { ACTUATOR_LISTEN_HOST: "::" } })).toEqual([
      expect.stringMatching(/^ACTUATOR_LISTEN_HOST: listen.host: /),
    ]);
  });

  test("what is wrong in code has no other place", () => {
    const options = { access: { jwt: { jwks: "keys.json" } } } as ActuatorOptions;
    expect(faultsOf({ options, env: { ACTUATOR_LISTEN_HOST: "::" } })).toEqual([
      "options: access.jwt must have issuer, audience",
    ]);
  });

  test.each([
    ['{"name": "shop"', "actuator.json:1:16: the object must end with a }"],
    ['{"name": "a",\n "name": "b"}', "actuator.json:2:2: Map keys must be unique"],
    ["[]", "actuator.json:1:1: the file must be an object of settings"],
  ])("%s is an error", (text, fault) => expect(faultsOf({ file: file(text), env: {} })).toEqual([fault]));

  test("YAML is read like JSON, with the places of its values", () => {
    const path = yaml(
      `# the shop
name: shop
limits: { maxConnections: 10, drainDeadlineMs: 5s }
loggers:
  groups:
    web: [shop.web, shop.api.*]
  maxTtlMs: 1h30m
sessions:
  idKeyFile: id.key
`,
      { "id.key": "0123456789abcdef" },
    );
    const { options, settings } = configuration({ file: path, env: {} });
    expect(options).toEqual({
      name: "shop",
      limits: { maxConnections: 10, drainDeadlineMs: 5_000 },
      loggers: { groups: { web: ["shop.web", "shop.api.*"] }, maxTtlMs: 5_400_000 },
      sessions: { idKey: "0123456789abcdef" },
    });
    const from = Object.fromEntries(settings.map(({ setting, from }) => [setting, from]));
    expect(from).toMatchObject({
      "limits.maxConnections": "actuator.yaml:3:27",
      "loggers.maxTtlMs": "actuator.yaml:7:13",
      "sessions.idKey": "actuator.yaml:9:14",
    });
  });

  test("a string option is what is written in YAML, not the number that it looks like", () => {
    const path = yaml("version: 1.10\nname: yes\nlisten: { path: a.sock, mode: 0600 }\n");
    const { options, listen } = configuration({ file: path, env: {} });
    expect({ ...options, mode: listen.mode }).toEqual({ version: "1.10", name: "yes", mode: "0600" });
  });

  test.each([
    ["name: a\nname: b\n", ["actuator.yaml:2:1: Map keys must be unique"]],
    ["name: &a shop\nversion: *a\n", ["actuator.yaml:2:10: write the value again: aliases are not supported"]],
    ["name: [shop\n", [expect.stringMatching(/^actuator.yaml:2:1: the list/)]],
    [
      "nmae: shop\nlimits:\n  maxConections: 1\n",
      [
        'actuator.yaml:1:7: Unknown setting "nmae"; did you mean "name"?',
        'actuator.yaml:3:18: Unknown setting "limits.maxConections"; did you mean "maxConnections"?',
      ],
    ],
    ["limits: 5\n", ["actuator.yaml:1:9: limits must be an object of settings"]],
    ["name: !!js/function x\n", [expect.stringMatching(/^actuator.yaml:1:7: Unresolved tag/)]],
  ])("what is wrong in YAML is reported with its place: %j", (text, faults) => {
    expect(faultsOf({ file: yaml(text), env: {} })).toEqual(faults);
  });

  test("an empty file of YAML sets nothing", () => {
    expect(configuration({ file: yaml("# nothing yet\n"), env: {} }).options).toEqual({});
  });

  test("a file that is not there is an error", () => {
    expect(faultsOf({ file: "/nowhere/actuator.json", env: {} })).toEqual([
      "/nowhere/actuator.json: there is no such file",
    ]);
  });
});

describe("secrets", () => {
  const key = randomBytes(24).toString("hex");

  test.each([
    ["in a file beside", { sessions: { idKeyFile: "id.key" } }, {}],
    ["by reference", { sessions: { idKey: `\${file:id.key}` } }, {}],
    ["in the file that a variable names", {}, { ACTUATOR_SESSIONS_ID_KEY_FILE: "id.key" }],
    ["in a variable", {}, { ACTUATOR_SESSIONS_ID_KEY: key }],
    ["in the file itself", { sessions: { idKey: key } }, {}],
  ])("%s are read and never shown", (_, content, env: NodeJS.ProcessEnv) => {
    const path = file(content, { "id.key": `${key}\n` });
    if (env.ACTUATOR_SESSIONS_ID_KEY_FILE) env.ACTUATOR_SESSIONS_ID_KEY_FILE = join(path, "..", "id.key");
    const { options, settings } = configuration({ file: path, env });
    expect(options.sessions).toEqual({ idKey: key });
    expect(settings.find(({ setting }) => setting === "sessions.idKey")?.value).toBe("<hidden>");
    expect(JSON.stringify(settings)).not.toContain(key);
  });

  test("addresses are shown without them", () => {
    const { standalone, settings } = standaloneConfiguration({
      env: {
        ACTUATOR_SESSIONS_STORE_REDIS: `redis://user:${key}@cache:6379/0?password=${key}`,
        ACTUATOR_FLEET_NATS: `nats://user:${key}@a:4222`,
        ACTUATOR_FLEET_PEERS_TOKEN: key,
        ACTUATOR_FLEET_PEERS_HOSTS: "a,b",
      },
    });
    expect(standalone.store?.redis).toContain(key);
    expect(settings).toContainEqual({
      setting: "sessions.store.redis",
      value: "redis://***@cache:6379/0?***",
      from: "ACTUATOR_SESSIONS_STORE_REDIS",
    });
    expect(JSON.stringify(settings)).not.toContain(key);
  });

  test("several servers of NATS have commas between them", () => {
    const read = (servers: string) => standaloneConfiguration({ env: { ACTUATOR_FLEET_NATS: servers } });
    const { settings } = read(`nats://user:${key},${key}@a:4222,tls://b:4222`);
    const value = "nats://***@a:4222,tls://b:4222";
    expect(settings).toContainEqual({ setting: "fleet.nats", value, from: "ACTUATOR_FLEET_NATS" });
    const fault = /must be URLs with commas between them, which begin with nats:\/\/ or tls:\/\//;
    for (const servers of ["wss://a", "nats://a,", "nats://a,b:4222", "nats://a,http://b"]) {
      expect(() => read(servers)).toThrow(fault);
    }
  });

  test.each([
    // What should have been %23, %2F and %40.
    `redis://user:1#${key}@cache`,
    `redis://user:1/${key}@cache:6379`,
    `postgres://user@cache/${key}@db`,
  ])("addresses that are not written well are not shown: %s", (address) => {
    const variable = `ACTUATOR_SESSIONS_STORE_${address.startsWith("redis") ? "REDIS" : "POSTGRES"}`;
    const { settings } = standaloneConfiguration({ env: { [variable]: address } });
    expect(JSON.stringify(settings)).not.toContain(key);
  });

  test.each([`redis:user:${key}@cache`, `redis:/user:${key}@cache`])(
    "no address is %s, and that is all that is said",
    (address) => {
      const check = () => standaloneConfiguration({ env: { ACTUATOR_SESSIONS_STORE_REDIS: address } });
      expect(check).toThrow(/must be a URL that begins with redis:\/\//);
      expect(check).not.toThrow(key);
    },
  );

  test("tokens within objects are hidden", () => {
    const path = file(
      { name: "shop", admin: { url: "http://a:8080", metadata: { "tags.token": key, other: `\${file:b.token}` } } },
      { "b.token": `${key}b\n` },
    );
    const env = { ACTUATOR_ADMIN_MANAGEMENT_URL: "http://shop/actuator" };
    const { options, settings } = configuration({ file: path, env });
    expect(options.admin?.metadata).toEqual({ "tags.token": key, other: `${key}b` });
    expect(JSON.stringify(settings)).not.toContain(key);
  });

  test("are in no error", () => {
    const secret = "tooshort";
    const faults = faultsOf(
      {
        file: file({
          sessions: { idKey: secret, store: { postgres: `mysql://u:${key}@db/x` } },
          fleet: { peers: { token: `${key} ${key}` } },
        }),
        env: { ACTUATOR_SESSIONS_STORE_REDIS: key, ACTUATOR_FLEET_ADDRESS: `http://u:${key}@a:9001` },
      },
      standaloneConfiguration,
    );
    expect(faults).toHaveLength(5);
    expect(faults.join()).not.toContain(key);
    expect(faults.join()).not.toContain(secret);
  });

  test("neither a file of settings nor one of a secret is taken for text where it is none", () => {
    const secret = file({ sessions: { idKeyFile: "binary.key" } }, {});
    writeFileSync(join(secret, "..", "binary.key"), Buffer.from([0x61, 0xff, 0xfe, 0x80]));
    expect(faultsOf({ file: secret, env: {} })).toEqual([
      `actuator.json:3:18: the file ${join(secret, "..", "binary.key")} is not text in UTF-8: write keys in hexadecimal or Base64`,
    ]);
    const latin = file({});
    writeFileSync(latin, Buffer.from('{"name":"Käse"}', "latin1"));
    expect(faultsOf({ file: latin, env: {} })).toEqual([`${latin}: the file is not text in UTF-8`]);
  });

  test("a file of a secret that cannot be read, or is empty, or is given twice, is an error", () => {
    const path = file({ sessions: { idKeyFile: "none.key" } }, { "empty.key": "\n" });
    expect(faultsOf({ file: path, env: {} })).toEqual([
      `actuator.json:3:18: the file ${join(path, "..", "none.key")} cannot be read (ENOENT)`,
    ]);
    const env = { ACTUATOR_SESSIONS_ID_KEY_FILE: join(path, "..", "empty.key") };
    expect(faultsOf({ env })).toEqual([
      `ACTUATOR_SESSIONS_ID_KEY_FILE: the file ${env.ACTUATOR_SESSIONS_ID_KEY_FILE} is empty`,
    ]);
    expect(faultsOf({ env: { ...env, ACTUATOR_SESSIONS_ID_KEY: key } })).toEqual([
      "ACTUATOR_SESSIONS_ID_KEY_FILE: ACTUATOR_SESSIONS_ID_KEY is set as well; set only one of the two",
    ]);
  });
});
