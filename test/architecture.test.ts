import { describe, expect, test } from "vitest";
import { type Import, importsOf, sourceFiles, sourceOf } from "./support/source-files.ts";

const longest = 250;

const loggersPort = /^loggers\/(adapter|call-counter|level|name)\.ts$/;
const sessionsPort = /^sessions\/(principal|session|session-digest|session-id|store)\.ts$/;

const graphPort =
  /^integration-graph\/(adapter|declaration|delivery|link-type|node|node-id|outcome|pattern|properties|senders|source|watching-adapter)\.ts$/;

/** One folder for each library that is adapted, with the port of the one domain that it knows. */
const adapters: readonly Adapter[] = [
  { folder: "amqplib", port: graphPort, library: /^amqplib$/ },
  {
    folder: "bullmq",
    port: graphPort,
    library: /^bullmq$/,
    shares: /^redis-messaging\/address\.ts$/,
  },
  { folder: "redis-messaging", port: graphPort, library: /^(redis|ioredis)$/ },
  { folder: "better-auth", port: sessionsPort, library: /^better-auth$/ },
  {
    folder: "connect-pg-simple",
    port: sessionsPort,
    library: /^connect-pg-simple$/,
    shares: /^(connect-session|postgres)\//,
  },
  {
    folder: "connect-redis",
    port: sessionsPort,
    library: /^connect-redis$/,
    shares: /^(connect-session|redis)\//,
  },
  { folder: "debug", port: loggersPort, library: /^debug$/ },
  { folder: "log4js", port: loggersPort, library: /^log4js$/ },
  { folder: "logtape", port: loggersPort, library: /^@logtape\/logtape$/ },
  { folder: "nestjs", port: loggersPort, library: /^@nestjs\/common$/ },
  { folder: "kafkajs", port: graphPort, library: /^kafkajs$/ },
  { folder: "mqtt", port: graphPort, library: /^mqtt$/ },
  { folder: "nats", port: graphPort, library: /^@nats-io\// },
  { folder: "opentelemetry", port: graphPort, library: /^@opentelemetry\/(api|sdk-trace-base)$/ },
  {
    folder: "opentelemetry-metrics",
    port: /^metrics\/(conventions|metric|metrics)\.ts$/,
    library: /^@opentelemetry\/api$/,
  },
  {
    folder: "platformatic-kafka",
    port: graphPort,
    library: /^@platformatic\/kafka$/,
    shares: /^kafkajs\/(cluster|target|topics)\.ts$/,
  },
  { folder: "pino", port: loggersPort, library: /^pino$/ },
  { folder: "winston", port: loggersPort, library: /^winston$/ },
  { folder: "express-session", port: sessionsPort, library: /^express-session$/, shares: /^connect-session\// },
  { folder: "fastify-session", port: sessionsPort, library: /^@fastify\/session$/, shares: /^connect-session\// },
  { folder: "in-process", port: graphPort, library: /^never$/ },
  {
    folder: "nestjs-messaging",
    port: graphPort,
    library: /^@nestjs\/(common|core)$/,
    shares: /^(in-process|redis-messaging)\/|^amqplib\/destination\.ts$|^bullmq\/(broker|queues)\.ts$/,
  },
  { folder: "koa-session", port: sessionsPort, library: /^koa-session$/, shares: /^(connect-session|redis)\// },
  {
    folder: "session-file-store",
    port: sessionsPort,
    library: /^(express-session|session-file-store)$/,
    shares: /^connect-session\//,
  },
  { folder: "asyncapi", port: graphPort, library: /^never$/ },
  { folder: "spring-integration", port: graphPort, library: /^never$/ },
  { folder: "spring-session", port: sessionsPort, library: /^(redis|pg)$/, shares: /^(redis|postgres)\// },
];

/**
 * Who may know whom. A file belongs to the first part whose `files` match it; `imports` lists all that it may name
 * besides its own part: files of `src`, libraries, and `node:` modules. Types count, since an arrow in the types is an
 * arrow in the design.
 */
const parts: readonly Part[] = [
  { name: "generated code", files: /^gen\//, imports: [/^@bufbuild\/protobuf/] },
  { name: "errors", files: /^error\.ts$/, imports: [] },
  ...["loggers", "sessions", "integration-graph", "application"].map((domain) => ({
    name: `the domain ${domain}`,
    files: new RegExp(`^${domain}/`),
    imports: [
      /^(error|log-line|options|record)\.ts$/,
      /^files\//,
      /^node:(async_hooks|crypto|events|fs|os|path|perf_hooks|process|timers|util)/,
    ],
  })),
  {
    name: "the audit",
    files: /^audit\//,
    imports: [
      /^access\/(caller|permission|rate-limit)\.ts$/,
      /^calls\//,
      /^(log-line|options|record)\.ts$/,
      /^node:(fs|path)/,
    ],
  },
  {
    name: "who may do what",
    files: /^access\//,
    imports: [
      /^ip-address\//,
      /^files\//,
      /^(error|options|record)\.ts$/,
      /^node:(crypto|fs|os|path|timers|util|events)/,
      /^jose$/,
    ],
  },
  {
    name: "the books on calls",
    files: /^calls\//,
    imports: [/^access\/(caller|permission)\.ts$/, /^error\.ts$/, /^node:crypto$/],
  },
  {
    name: "the gate before both faces",
    files: /^gate\//,
    imports: [
      /^access\//,
      /^calls\/call-record\.ts$/,
      /^ip-address\//,
      /^(bounded-cache|error|options)\.ts$/,
      /^node:http2?$/,
    ],
  },
  {
    name: "metrics of the actuator's own calls",
    files: /^metrics\//,
    imports: [/^calls\/call-record\.ts$/, /^(error|options)\.ts$/, /^node:(perf_hooks|process)$/],
  },
  {
    name: "the receiver of OpenTelemetry's traces",
    files: /^otlp\//,
    imports: [
      graphPort,
      /^(calls|gate|gen|opentelemetry)\//,
      /^(error|options)\.ts$/,
      /^node:/,
      /^@bufbuild\/protobuf/,
    ],
  },
  {
    name: "the endpoints",
    files: /^endpoints\.ts$/,
    imports: [/^(application|loggers|metrics|sessions|integration-graph)\//, /^otlp\/receiver\.ts$/],
  },
  {
    name: "the OpenAPI document",
    files: /^openapi\//,
    imports: [
      /^access\/permission\.ts$/,
      /^loggers\/level\.ts$/,
      /^integration-graph\/(link-type|pattern|provider)\.ts$/,
    ],
  },
  {
    name: "the REST face",
    files: /^rest\//,
    imports: [
      /^(access|application|calls|gate|ip-address|loggers|metrics|openapi|sessions|integration-graph)\//,
      /^server\/peer\.ts$/,
      /^(bounded-cache|error|endpoints)\.ts$/,
      /^node:/,
    ],
  },
  {
    name: "the RPC face",
    files: /^rpc\//,
    imports: [
      /^(access|application|calls|gate|loggers|sessions|integration-graph|gen)\//,
      /^otlp\/receiver\.ts$/,
      /^(error|endpoints|options)\.ts$/,
      /^node:/,
      /^@bufbuild\/protobuf/,
      /^@connectrpc\/connect(-node)?(\/|$)/,
    ],
  },
  { name: "what watches objects of others", files: /^interception\//, imports: [] },
  {
    name: "the server",
    files: /^server\//,
    imports: [/^(error|options)\.ts$/, /^access\/knock\.ts$/, /^(files|ip-address)\//, /^node:/],
  },
  {
    name: "the records of the connect family's stores",
    files: /^connect-session\//,
    imports: [
      sessionsPort,
      /^interception\/(plain-promise|replaced-method)\.ts$/,
      /^(error|options|record)\.ts$/,
      /^node:/,
    ],
  },
  {
    name: "the connection to Redis, and an index of sessions there",
    files: /^redis\//,
    imports: [/^sessions\/session-digest\.ts$/, /^(certificate-fault|error)\.ts$/, /^node:/, /^redis$/],
  },
  {
    name: "the connection to PostgreSQL",
    files: /^postgres\//,
    imports: [/^(certificate-fault|error)\.ts$/, /^node:/, /^pg$/],
  },
  ...adapters.map(({ folder, port, library, shares }) => ({
    name: `the adapter ${folder}`,
    files: new RegExp(`^${folder}/`),
    imports: [
      port,
      /^interception\//,
      /^(error|options|record)\.ts$/,
      /^node:/,
      ...(shares === undefined ? [] : [shares]),
    ],
    typesOf: library,
  })),
  {
    name: "the level of one request, asked for over HTTP",
    files: /^request-level\//,
    imports: [/^loggers\//, /^error\.ts$/, /^node:/],
  },
  {
    name: "pictures and text of graphs",
    files: /^graph-export\//,
    imports: [/^integration-graph\/(node-id|snapshot)\.ts$/, /^@hpcc-js\/wasm-graphviz$/],
  },
  {
    name: "the registration with Spring Boot Admin",
    files: /^spring-boot-admin\//,
    imports: [
      /^application\/application\.ts$/,
      /^ip-address\//,
      /^server\/address\.ts$/,
      /^(error|options|record)\.ts$/,
      /^node:/,
    ],
  },
  {
    name: "how files are read, followed and replaced",
    files: /^files\//,
    imports: [/^node:(crypto|fs|path|util)/],
  },
  { name: "a line of a structured log", files: /^log-line\.ts$/, imports: [] },
  { name: "what IP addresses say", files: /^ip-address\//, imports: [/^node:net$/] },
  { name: "what is remembered within bounds", files: /^bounded-cache\.ts$/, imports: [] },
  { name: "what a certificate is refused for", files: /^certificate-fault\.ts$/, imports: [] },
  { name: "the checks of options", files: /^options\.ts$/, imports: [/^(edit-distance|error|record)\.ts$/] },
  {
    name: "how durations are written, how words differ, what an object is",
    files: /^(duration|edit-distance|record)\.ts$/,
    imports: [],
  },
  {
    name: "the assembly",
    files: /^actuator(-options)?\.ts$|^assembly\//,
    imports: [
      /^(access|application|audit|calls|gate|ip-address|loggers|metrics|sessions|integration-graph|openapi|otlp|rest|rpc|server|spring-boot-admin)\//,
      /^(error|endpoints|options)\.ts$/,
      /^node:/,
    ],
  },
  {
    name: "the public interface",
    files: /^index\.ts$/,
    imports: [
      /^(actuator|actuator-options|error)\.ts$/,
      /^otlp\/options\.ts$/,
      /^rpc\/stream-options\.ts$/,
      /^(access|application|audit|configuration|gate|loggers|metrics|request-level|spring-boot-admin|sessions|graph-export|integration-graph|server)\//,
    ],
  },
  {
    name: "how clients reach an actuator",
    files: /^client-transport\.ts$/,
    imports: [/^node:tls$/, /^@connectrpc\/connect(-node)?$/],
  },
  {
    name: "the command line, a client like any other",
    files: /^cli\//,
    imports: [
      /^gen\//,
      /^access\/(permission-pattern|token|token-file|token-file-edit)\.ts$/,
      /^graph-export\//,
      /^integration-graph\/(merge|snapshot)\.ts$/,
      /^ip-address\/loopback\.ts$/,
      /^loggers\/level\.ts$/,
      /^rpc\/integration-graph-proto\.ts$/,
      /^node:/,
      /^@bufbuild\/protobuf/,
      /^@connectrpc\/connect$/,
      /^commander$/,
      /^(client-transport|duration|edit-distance|error|options)\.ts$/,
    ],
    // `sessions prepare` talks to the store itself, `serve` is an actuator. No other command has to load what these need.
    loads: /^connect-(pg-simple|redis)\/prepare\.ts$|^(configuration|standalone)\/(index|json-schema|notes\/root)\.ts$/,
  },
  {
    name: "the configuration",
    files: /^configuration\//,
    imports: [
      /^actuator-options\.ts$/,
      // Tables of options with their checks, wherever they stand, and what the options are by default.
      /^[a-z-]+\/([a-z-]+-)?options\.ts$/,
      /^server\/(address|limits)\.ts$/,
      /^spring-boot-admin\/announcement\.ts$/,
      /^standalone\/faults\.ts$/,
      /^sessions\/(attribute-filter|sessions)\.ts$/,
      /^(duration|error|options)\.ts$/,
      /^node:(fs|path)$/,
    ],
  },
  {
    name: "the loggers of several actuators as one",
    files: /^fleet\//,
    imports: [
      loggersPort,
      /^loggers\/(loggers|view|override|history)\.ts$/,
      /^gen\//,
      /^rpc\/level-proto\.ts$/,
      /^ip-address\/loopback\.ts$/,
      /^(client-transport|error|options)\.ts$/,
      /^node:/,
      /^@bufbuild\/protobuf/,
      /^@connectrpc\/connect$/,
    ],
  },
  {
    name: "the actuator without an application",
    files: /^standalone\//,
    imports: [
      /^index\.ts$/,
      /^(fleet|spring-session|connect-pg-simple|connect-redis)\/index\.ts$/,
      /^fleet\/options\.ts$/,
      /^redis\/index\.ts$/,
      /^sessions\/(principal|store)\.ts$/,
      /^(actuator|error|options)\.ts$/,
      /^node:/,
    ],
  },
  {
    name: "the sample, an application like any other",
    files: /^sample\//,
    imports: [/^index\.ts$/, ...adapters.map(({ folder }) => new RegExp(`^${folder}/index\\.ts$`)), /^(?!.*\.ts$)/],
  },
];

interface Adapter {
  readonly folder: string;
  readonly port: RegExp;
  readonly library: RegExp;
  /** What it has in common with adapters of the same family. */
  readonly shares?: RegExp;
}

interface Part {
  readonly name: string;
  readonly files: RegExp;
  readonly imports: readonly RegExp[];
  /** A library that the application brings: only its types may be named, so that its code loads only when used. */
  readonly typesOf?: RegExp;
  /** Files of other parts that it loads by `import(…)` when it needs them, and may otherwise name the types of. */
  readonly loads?: RegExp;
}

describe("the arrows point inward", () => {
  test.each(sourceFiles)("%s", (file) => {
    const part = parts.find(({ files }) => files.test(file));
    expect(part, `src/${file} belongs to no part of the house: name its part in this test`).toBeDefined();
    const wrong = importsOf(file).filter((what) => !mayImport(part!, what));
    const names = wrong.map(({ what, typeOnly }) => `${what}${typeOnly ? " (types)" : ""}`);
    expect(names, `src/${file} is part of ${part!.name}, which may not know these`).toEqual([]);
  });
});

test("the imports are seen at all", () => {
  expect(importsOf("endpoints.ts")).toContainEqual({ what: "loggers/loggers.ts", typeOnly: true, dynamic: false });
});

test(`a file has at most ${longest} lines`, () => {
  const long = sourceFiles
    .filter((file) => !file.startsWith("gen/"))
    .map((file) => ({ file, lines: sourceOf(file).split("\n").length - 1 }))
    .filter(({ lines }) => lines > longest)
    .map(({ file, lines }) => `src/${file}: ${lines}`);
  expect(long, "one idea a file: split these").toEqual([]);
});

function mayImport(part: Part, { what, typeOnly, dynamic }: Import): boolean {
  return (
    part.files.test(what) ||
    part.imports.some((allowed) => allowed.test(what)) ||
    (typeOnly && part.typesOf?.test(what) === true) ||
    ((typeOnly || dynamic) && part.loads?.test(what) === true)
  );
}
