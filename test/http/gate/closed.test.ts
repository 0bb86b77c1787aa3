import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import type { ActuatorHandler } from "../../../src/actuator.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { createActuator, integrationGraph } from "../../../src/index.ts";
import { libraryOf, transportOver, WIRES } from "../../support/rpc-harness.ts";

const MOUNTS: Readonly<Record<string, (handler: ActuatorHandler) => RequestListener>> = {
  "node:http": (handler) => (req, res) => handler(req, res, () => res.end("the application")),
  Express: (handler) => express().use(handler, (_, res) => void res.send("the application")),
};

test.each(Object.entries(MOUNTS))(
  "an actuator that is mounted on %s and closed changes and shows nothing any more, but says of itself that it is gone",
  async (_, mount) => {
    const errors: unknown[] = [];
    const actuator = createActuator({
      access: "loopback",
      loggers: { adapters: [libraryOf(["orders"])], logLevelChanges: false },
      integrationGraph: integrationGraph({ app: "shop" }),
      otlp: true,
      audit: false,
      onError: (error) => void errors.push(error),
    });
    const server = createServer(mount(actuator.handler)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close().closeAllConnections());
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = async (path: string, body?: string) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${url}${path}`, body === undefined ? {} : { method: "POST", headers, body });
      return [answer.status, await answer.text()] as const;
    };
    const statuses = async () => {
      const paths = ["/actuator", "/actuator/loggers", "/actuator/integrationgraph", "/actuator/health"];
      const answers = [
        ...paths.map((path) => ask(path)),
        ask("/actuator/loggers/orders", "{}"),
        ask("/v1/traces", "{}"),
      ];
      return (await Promise.all(answers)).map(([status]) => status);
    };
    const transport = transportOver(WIRES.find(({ httpVersion }) => httpVersion === "1.1")!, url);
    const loggers = createClient(LoggersService, transport);
    const health = createClient(Health, transport);

    expect(await statuses()).toEqual([200, 200, 200, 200, 204, 200]);
    expect((await loggers.getLogger({ name: "orders" })).result.case).toBe("logger");

    await actuator.close();
    expect(await statuses()).toEqual([503, 503, 503, 503, 503, 503]);
    expect((await ask("/actuator/health"))[1]).toContain("OUT_OF_SERVICE");
    expect((await ask("/actuator/loggers"))[1]).toContain("This actuator is closed.");
    const refusal = ConnectError.from(await loggers.getLogger({ name: "orders" }).catch((error: unknown) => error));
    expect(refusal.code).toBe(Code.Unavailable);
    expect((await health.check({})).status).toBe(ServingStatus.NOT_SERVING);
    expect((await ask("/"))[1]).toBe("the application");
    expect(errors).toEqual([]);
  },
);
