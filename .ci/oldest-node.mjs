// node check.mjs <version>: imports every entry of the package beside it, and asks an actuator over each protocol.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import { createActuator, integrationGraph, memorySessions } from "connect-actuator";
import { pinoLoggers } from "connect-actuator/pino";
import { pino } from "pino";

assert.equal(process.versions.node, process.argv[2]);

const { exports } = JSON.parse(readFileSync("node_modules/connect-actuator/package.json", "utf8"));
const entries = Object.keys(exports).filter((entry) => !entry.endsWith(".json"));
for (const entry of entries) {
  const names = Object.keys(await import(`connect-actuator${entry.slice(1)}`));
  assert.equal(names.length === 0, entry === "./auto", `${entry} exports ${names.length} names`);
}

const logger = pino({ level: "silent" });
const actuator = createActuator({
  loggers: { adapters: [pinoLoggers(logger)] },
  sessions: memorySessions(),
  integrationGraph: integrationGraph({ app: "oldest" }),
  metrics: true,
  audit: false,
});
const { url, port } = await actuator.listen({ port: 0 });
const json = { "content-type": "application/json" };

const rest = await fetch(`${url}/actuator/loggers/ROOT`, {
  method: "POST",
  headers: json,
  body: '{"configuredLevel":"DEBUG"}',
});
assert.equal(rest.status, 204);
assert.equal(logger.level, "debug");
for (const path of ["loggers", "sessions?username=nobody", "integrationgraph", "prometheus", "openapi.json"]) {
  assert.equal((await fetch(`${url}/actuator/${path}`)).status, 200, path);
}

const connect = await fetch(`${url}/actuator.v3.LoggersService/GetLogger`, {
  method: "POST",
  headers: json,
  body: '{"name":"ROOT"}',
});
assert.equal((await connect.json()).logger.configuredLevel, "LEVEL_DEBUG");

const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
const same = (bytes) => bytes;
const health = await new Promise((resolve, reject) => {
  const path = "/grpc.health.v1.Health/Check";
  client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error, answer) =>
    error ? reject(error) : resolve(answer),
  );
});
// HealthCheckResponse { status: SERVING }
assert.deepEqual([...health], [8, 1]);
client.close();
await actuator.close();
console.log(`Node.js ${process.versions.node}: ${entries.length} entries, REST, Connect and gRPC`);
