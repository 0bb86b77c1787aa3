import { request } from "node:http";
import { Code, createClient } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { createRpcHandler } from "../../../src/http/rpc/handler.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Health as HealthStatus } from "../../../src/operations/health/health.ts";
import { OPEN_GATE } from "../../support/open-gate.ts";
import { grpcClient, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { serve } from "../../support/server-harness.ts";

// What answers calls is loaded with the first of them.

test("calls of every protocol that come before it is loaded are answered, each once", async () => {
  const { url, requests, errors } = await serveRpc({ loggers: new Loggers() });
  const names = await Promise.all(
    WIRES.map(async (wire) => {
      const { result } = await createClient(LoggersService, transportOver(wire, url)).getLogger({ name: "ROOT" });
      return result.case === "logger" && result.value.name;
    }),
  );
  expect(names).toEqual(WIRES.map(() => "ROOT"));
  expect(errors).toEqual([]);
  expect(requests.length).toBeLessThanOrEqual(WIRES.length);
});

test("a client that goes before it is loaded takes nothing with it", async () => {
  const { url, port, listener, errors } = await serveRpc();
  const path = "/grpc.health.v1.Health/Check";
  const gone = request({ port, method: "POST", path, headers: { "content-type": "application/json" } });
  gone.on("error", () => {}).write("{");
  await expect.poll(() => listener.counts.connections).toBe(1);
  gone.destroy();
  expect((await grpcClient(Health, url).check({})).status).toBe(1);
  await expect.poll(() => listener.counts.connections).toBe(1);
  expect(errors).toEqual([]);
});

test("a failure to load it, such as too many open files, is not kept", async () => {
  const errors: unknown[] = [];
  let failures = 1;
  const endpoints = { application: { startTime: 0 }, health: new HealthStatus() };
  const rpc = createRpcHandler(endpoints, {
    gate: OPEN_GATE,
    onError: (error) => void errors.push(error),
    // Read when the calls are loaded.
    get readMaxBytes(): number {
      if (failures-- > 0) throw new Error("EMFILE: too many open files");
      return 1_024;
    },
  });
  const { url } = await serve((req, res) => void rpc.handle(req, res));
  const check = () => grpcClient(Health, url).check({});
  await expect(check()).rejects.toThrow();
  expect(errors).toMatchObject([{ message: "EMFILE: too many open files" }]);
  expect((await check()).status).toBe(1);
});

test("streams that begin after the end are refused although it was not loaded then", async () => {
  const { url, rpc } = await serveRpc();
  rpc.endStreams();
  const client = grpcClient(Health, url);
  await expect(client.watch({})[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: Code.Unavailable });
  expect((await client.check({})).status).toBe(1);
});

test("every streaming method is counted before and after", async () => {
  const { url, rpc } = await serveRpc();
  const before = [...rpc.openStreams];
  expect(before).toContainEqual(["grpc.health.v1.Health/Watch", 0]);
  const watch = grpcClient(Health, url).watch({})[Symbol.asyncIterator]();
  await watch.next();
  expect(rpc.openStreams.get("grpc.health.v1.Health/Watch")).toBe(1);
  expect([...rpc.openStreams.keys()]).toEqual(before.map(([method]) => method));
});
