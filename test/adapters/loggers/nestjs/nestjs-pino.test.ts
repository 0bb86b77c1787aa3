import * as nest from "@nestjs/common";
import { LoggerModule, Logger as NestPinoLogger, PinoLogger } from "nestjs-pino";
import { pino } from "pino";
import { expect, test } from "vitest";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { LoggerAdapter } from "../../../../src/loggers/adapter.ts";
import { nestOrders } from "../../../support/nest-orders.ts";
import { borrowNest } from "../../../support/nest-versions.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly context?: string;
  readonly req?: unknown;
}

const lines: Line[] = [];
// One for all tests: nestjs-pino keeps the first logger of a process.
const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });

/** NestJS on nestjs-pino, whose lines are collected. */
async function application(...more: readonly LoggerAdapter[]) {
  borrowNest(nest);
  logger.level = "info";
  const orders = await nestOrders(
    LoggerModule.forRoot({ pinoHttp: { logger, autoLogging: false } }),
    { bufferLogs: true },
    (app) => {
      app.useLogger(app.get<never>(NestPinoLogger));
      return [pinoLoggers(PinoLogger.root), ...more];
    },
  );
  return { ...orders, written: () => lines.splice(0) };
}

test("nestjs-pino follows the levels of pino, in requests and outside of them", async () => {
  const { order, get, post, written } = await application();
  expect(written().map(({ context }) => context)).toContain("NestFactory");
  expect(await get("ROOT")).toEqual({ configuredLevel: "INFO", effectiveLevel: "INFO" });
  for (const [level, expected] of [
    ["INFO", ["log", "warn"]],
    ["TRACE", ["verbose", "debug", "log", "warn"]],
    ["WARN", ["warn"]],
    ["OFF", []],
    ["DEBUG", ["debug", "log", "warn"]],
  ] as const) {
    expect(await post("ROOT", level)).toBe(204);
    expect(await order()).toBe("ordered");
    const inRequest = written();
    expect(inRequest.map(({ msg }) => msg)).toEqual(expected);
    for (const line of inRequest) expect(line).toMatchObject({ context: "OrdersController", req: { url: "/orders" } });
    new nest.Logger("Outside").debug("outside");
    expect(written().map(({ msg }) => msg)).toEqual(level === "TRACE" || level === "DEBUG" ? ["outside"] : []);
  }
});

test("its contexts have levels of their own in front of pino's", async () => {
  const { order, get, post, written } = await application(nestjsLoggers(nest, { prefix: "nest" }));
  const messages = async () => {
    written();
    await order();
    new nest.Logger("Outside").debug("outside");
    return written().map(({ msg }) => msg);
  };
  await post("ROOT", "TRACE");
  await post("nest", "INFO");
  expect(await messages()).toEqual(["log", "warn"]);
  await post("nest.OrdersController", "DEBUG");
  expect(await get("nest.OrdersController")).toEqual({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
  expect(await messages()).toEqual(["debug", "log", "warn"]);
  await post("nest.Outside", "TRACE");
  await post("nest.OrdersController", "OFF");
  expect(await messages()).toEqual(["outside"]);
});
