import * as nest from "@nestjs/common";
import { LoggerModule, Logger as NestPinoLogger, PinoLogger } from "nestjs-pino";
import { pino } from "pino";
import { expect, test } from "vitest";

import { pinoLoggers } from "../../src/pino/index.ts";
import { nestOrders } from "../support/nest-orders.ts";
import { borrowNest } from "../support/nest-versions.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly context?: string;
  readonly req?: unknown;
}

/** NestJS on nestjs-pino, whose lines are collected. */
async function application() {
  borrowNest(nest);
  const lines: Line[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const orders = await nestOrders(
    LoggerModule.forRoot({ pinoHttp: { logger, autoLogging: false } }),
    { bufferLogs: true },
    (app) => {
      app.useLogger(app.get<never>(NestPinoLogger));
      return pinoLoggers(PinoLogger.root);
    },
  );
  return { ...orders, lines: () => lines.splice(0) };
}

test("nestjs-pino follows the levels of pino, in requests and outside of them", async () => {
  const { order, get, post, lines } = await application();
  expect(lines().map(({ context }) => context)).toContain("NestFactory");
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
    const written = lines();
    expect(written.map(({ msg }) => msg)).toEqual(expected);
    for (const line of written) expect(line).toMatchObject({ context: "OrdersController", req: { url: "/orders" } });
    new nest.Logger("Outside").debug("outside");
    expect(lines().map(({ msg }) => msg)).toEqual(level === "TRACE" || level === "DEBUG" ? ["outside"] : []);
  }
});
