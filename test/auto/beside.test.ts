// @module-tag slow
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { AUTO, applicationFolder, runApplication } from "../support/auto-application.ts";
import { requirement } from "../support/requirement.ts";

const APPLICATION = `
const log = pino({ base: null, timestamp: false });
const orders = log.child({ module: "shop.orders" });
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: true }));
app.get("/", (req, res) => {
  req.session.user = { username: "ada" };
  orders.info("visit");
  res.end("ok");
});
const server = app.listen(0, async () => {
  console.log(await (await fetch("http://127.0.0.1:" + server.address().port, { headers: { connection: "close" } })).text());
  process.once("SIGUSR2", () => server.close());
  console.log("ready");
});
`;
const FILES = {
  "shop.mjs": `import express from "express"; import session from "express-session"; import { pino } from "pino";${APPLICATION}`,
  "shop.cjs": `const express = require("express"), session = require("express-session"), { pino } = require("pino");${APPLICATION}`,
};

/** A folder with a node_modules of tools that people preload, which the repository does not need otherwise; see .ci/run. */
const folder = process.env.CONNECT_ACTUATOR_TEST_PRELOADS;
const tool = (path: string): string => pathToFileURL(createRequire(join(folder!, "package.json")).resolve(path)).href;

/** Names no collector, agent or server that is there. */
const env = {
  OTEL_TRACES_EXPORTER: "none",
  OTEL_METRICS_EXPORTER: "none",
  OTEL_LOGS_EXPORTER: "none",
  OTEL_NODE_RESOURCE_DETECTORS: "none",
  DD_TRACE_AGENT_PORT: "9",
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: "false",
  DD_REMOTE_CONFIGURATION_ENABLED: "false",
};

/** By the name of a tool, a module that begins it. */
const installed: Readonly<Record<string, () => string>> = {
  "OpenTelemetry's automatic instrumentation": () =>
    `import ${JSON.stringify(tool("@opentelemetry/auto-instrumentations-node/register"))};`,
  "dd-trace": () => `import tracer from ${JSON.stringify(tool("dd-trace"))}; tracer.init({ startupLogs: false });`,
  Sentry: () => `
    import * as Sentry from ${JSON.stringify(tool("@sentry/node"))};
    Sentry.init({ dsn: "http://key@127.0.0.1:9/1", tracesSampleRate: 1 });`,
};

/** With the packages of the repository. */
const hook = `
  import { register } from "node:module";
  import { registerInstrumentations } from "@opentelemetry/instrumentation";
  import { AmqplibInstrumentation } from "@opentelemetry/instrumentation-amqplib";
  import { KafkaJsInstrumentation } from "@opentelemetry/instrumentation-kafkajs";
  register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
  registerInstrumentations({ instrumentations: [new AmqplibInstrumentation(), new KafkaJsInstrumentation()] });`;

/** In either order, the application does what it does with the tool alone, and everything is found. */
async function isFoundBeside(preload: string, script: string): Promise<void> {
  const application = applicationFolder({ ...FILES, "tool.mjs": preload });
  const other = ["--import", join(application.folder, "tool.mjs")];
  const orders = [other, ["--import", AUTO, ...other], [...other, "--import", AUTO]];
  const outputs: string[] = [];
  for (const nodeArgs of orders) {
    const shop = runApplication(application, script, { preload: false, nodeArgs, env });
    await shop.said("ready");
    if (nodeArgs.includes(AUTO)) {
      expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT", "shop", "shop.orders"]);
      expect((await shop.get("/sessions?username=ada")).sessions).toHaveLength(1);
      expect(shop.output().stderr).not.toContain("connect-actuator:");
    }
    shop.child.kill("SIGUSR2");
    expect(await shop.exit()).toBe(0);
    outputs.push(shop.output().stdout);
  }
  expect(outputs).toEqual(Array(3).fill('{"level":30,"module":"shop.orders","msg":"visit"}\nok\nready\n'));
}

test.each(Object.keys(FILES))("%s is managed beside OpenTelemetry's load hook", (script) =>
  isFoundBeside(hook, script),
);

describe.runIf(requirement("tools that are preloaded (CONNECT_ACTUATOR_TEST_PRELOADS)", folder !== undefined))(
  "beside a tool that is preloaded too",
  () => {
    const cases = Object.entries(installed).flatMap(([name, preload]) =>
      Object.keys(FILES).map((script) => ({ name, preload, script })),
    );
    test.each(cases)("$name: $script is managed", ({ preload, script }) => isFoundBeside(preload(), script));
  },
);
