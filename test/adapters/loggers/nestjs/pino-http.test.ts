import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { pinoHttp } from "pino-http";
import { expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { actuatorOf } from "../../../support/nest-actuator.ts";
import { http1Request } from "../../../support/server-harness.ts";

test("pino-http in a plain server: each request's logger follows, also one under way, and its own lines have their level", async () => {
  const lines: { msg: string; req?: { id: number } }[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { get, post } = await actuatorOf(pinoLoggers(logger));
  const middleware = pinoHttp({ logger });
  const orders = logger.child({ name: "orders" });
  const server = createServer(async (req, res) => {
    middleware(req, res);
    req.log.debug("before");
    if (req.url !== "/plain") await post(...(JSON.parse(decodeURIComponent(req.url!.slice(1))) as ["", null]));
    req.log.debug("after");
    orders.debug("orders");
    res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const request = async (path: string) => {
    lines.length = 0;
    await http1Request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
    return lines.map(({ msg }) => msg);
  };
  const change = (name: string, level: string | null) => request(encodeURIComponent(JSON.stringify([name, level])));

  expect(await get("ROOT")).toEqual({ configuredLevel: "WARN", effectiveLevel: "WARN" });
  expect(await request("plain")).toEqual([]);
  expect(await change("ROOT", "INFO")).toEqual(["request completed"]);
  expect(await change("ROOT", "DEBUG")).toEqual(["after", "orders", "request completed"]);
  expect(lines[0]!.req).toMatchObject({ method: "GET" });
  expect(await change("orders", "ERROR")).toEqual(["before", "after", "request completed"]);
  expect(await change("ROOT", "OFF")).toEqual(["before"]);
  expect(await change("orders", "TRACE")).toEqual(["orders"]);
});
