import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { type AuditRecord, createActuator } from "../../../src/index.ts";
import { eventually } from "../../support/server-harness.ts";

/** Connects, sends a change, resets the connection and only then lets the server's thread go on. */
const CLIENT = `
  const { workerData: { port, done } } = require("node:worker_threads");
  const body = '{"configuredLevel":"TRACE"}';
  const head = ["POST /actuator/loggers/ROOT HTTP/1.1", "Host: localhost", "Content-Type: application/json"];
  const socket = require("node:net").connect(port, "127.0.0.1", () => {
    const request = [...head, "Content-Length: " + body.length, "", body].join("\\r\\n");
    socket.write(request, () => socket.resetAndDestroy());
  });
  socket.on("error", () => {}).on("close", () => {
    Atomics.store(done, 0, 1);
    Atomics.notify(done, 0);
  });
`;

test("a connection that its client has reset has no address, and is not taken for one of this machine", async () => {
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    access: "loopback",
    loggers: { logLevelChanges: false },
    audit: (record) => records.push(record),
  });
  onTestFinished(() => actuator.close());
  const before = actuator.loggers!.get("ROOT");
  const app = createServer(actuator.handler);
  let resets = 0;
  app.on("connection", (socket) => socket.on("error", () => void resets++));
  onTestFinished(() => void app.close());
  await once(app.listen(0, "127.0.0.1"), "listening");
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CLIENT, { eval: true, workerData: { port: (app.address() as AddressInfo).port, done } });
  onTestFinished(async () => void (await worker.terminate()));
  expect(Atomics.wait(done, 0, 0, 20_000)).not.toBe("timed-out");
  // Not every system hands on what came before a reset.
  await eventually(
    () => records.length + resets > 0,
    () => "neither a request nor a reset",
  );
  expect(records.filter(({ result }) => result !== "PERMISSION_DENIED")).toEqual([]);
  expect(actuator.loggers!.get("ROOT")).toEqual(before);
});
