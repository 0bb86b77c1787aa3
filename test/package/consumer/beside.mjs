/** Imports every subpath beside old versions of libraries, and prints what the adapters of these say. */
import { readFileSync } from "node:fs";
import { Duplex } from "node:stream";
import * as nest from "@nestjs/common";
import "@opentelemetry/sdk-trace-base";
import mqtt from "mqtt";
import pino from "pino";
import { createClient } from "redis";
import winston from "winston";

const { exports } = JSON.parse(readFileSync("node_modules/connect-actuator/package.json", "utf8"));
const modules = {};
for (const subpath of Object.keys(exports).filter((each) => !each.endsWith(".json"))) {
  modules[subpath.slice(2)] = await import(`connect-actuator${subpath.slice(1)}`);
}

const client = new mqtt.Client(() => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), {});
const answers = {
  redis: refusal(() => modules["redis-messaging"].redisSource(createClient())),
  pino: refusal(() => modules.pino.pinoLoggers(pino({ level: "silent" }))),
  winston: refusal(() => modules.winston.winstonLoggers(winston)),
  nestjs: refusal(() => modules.nestjs.nestjsLoggers(nest)),
  mqtt: refusal(() => modules.mqtt.mqttSource(client)),
  opentelemetry: refusal(() => modules.opentelemetry.openTelemetrySource()),
};
client.end(true);
console.log(JSON.stringify(answers));

function refusal(use) {
  try {
    use();
    return "accepted";
  } catch (error) {
    return error.message;
  }
}
