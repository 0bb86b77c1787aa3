import { Writable } from "node:stream";
import * as nest from "@nestjs/common";
import { WINSTON_MODULE_NEST_PROVIDER, WINSTON_MODULE_PROVIDER, WinstonModule } from "nest-winston";
import { describe, expect, test } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { nestOrders } from "../../../support/nest-orders.ts";
import { borrowNest } from "../../../support/nest-versions.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly context?: string;
}

class NothingModule {}
nest.Module({})(NothingModule);

/** Both ways in which an application puts winston behind Nest's Logger. */
const WIRINGS: readonly (readonly [
  name: string,
  wire: (options: winston.LoggerOptions) => Parameters<typeof nestOrders>,
])[] = [
  [
    "from the start",
    (options) => {
      const instance = winston.createLogger(options);
      return [
        { module: NothingModule },
        { logger: WinstonModule.createLogger({ instance }) },
        () => winstonLoggers(instance),
      ];
    },
  ],
  [
    "as a module",
    (options) => [
      WinstonModule.forRoot(options),
      { bufferLogs: true },
      (app) => {
        app.useLogger(app.get<never>(WINSTON_MODULE_NEST_PROVIDER));
        return winstonLoggers(app.get<winston.Logger>(WINSTON_MODULE_PROVIDER));
      },
    ],
  ],
];

describe.each(WIRINGS)("nest-winston, put behind Nest %s,", (_, wire) => {
  test("follows the levels of winston", async () => {
    borrowNest(nest);
    const lines: Line[] = [];
    const stream = new Writable({
      objectMode: true,
      write(line: Line, _, done) {
        lines.push({ ...line });
        done();
      },
    });
    const transport = new winston.transports.Stream({ stream });
    const { order, get, post } = await nestOrders(...wire({ level: "info", transports: [transport] }));
    expect(lines.map(({ context }) => context)).toContain("RouterExplorer");
    expect(await get("ROOT")).toEqual({ configuredLevel: "INFO", effectiveLevel: "INFO" });
    for (const [level, expected] of [
      ["INFO", ["log", "warn"]],
      ["TRACE", ["verbose", "debug", "log", "warn"]],
      ["WARN", ["warn"]],
      ["OFF", []],
      ["DEBUG", ["verbose", "debug", "log", "warn"]],
    ] as const) {
      expect(await post("ROOT", level)).toBe(204);
      lines.length = 0;
      expect(await order()).toBe("ordered");
      expect(
        lines.map(({ message }) => message),
        level,
      ).toEqual(expected);
      expect(new Set(lines.map(({ context }) => context))).toEqual(
        new Set(expected.length ? ["OrdersController"] : []),
      );
    }
  });
});
