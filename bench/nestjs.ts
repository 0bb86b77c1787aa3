/** What a call of NestJS's loggers costs with the adapter attached, compared with Nest alone. */
import { openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { ConsoleLogger, Logger } from "@nestjs/common";
import { nestjsLoggers } from "../src/adapters/loggers/nestjs/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly logger: Logger;
  readonly bare: Logger;
  readonly own: ConsoleLogger;
}

await compareCalls<Subject>({
  libraries: ["@nestjs/common"],
  subject(attached) {
    // Nest writes to the standard output, which is synchronous if that is a file.
    const out = openSync(devNull, "w");
    process.stdout.write = (text) => writeSync(out, text as string) > 0;
    Logger.overrideLogger(new ConsoleLogger({ logLevels: ["log"], colors: false }));
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(nestjsLoggers({ Logger, ConsoleLogger }));
    const logger = new Logger("OrdersService");
    const own = new ConsoleLogger("PaymentService", { logLevels: ["log"], colors: false });
    // Contexts are found when they are used; an application has some, and a level that came and went.
    for (let index = 0; index < 100; index++) new Logger(`Service${index}`).debug("x");
    logger.debug("x");
    loggers?.setLevel("OrdersService", "TRACE");
    loggers?.setLevel("OrdersService", undefined);
    return { logger, bare: new Logger(), own };
  },
  calls: [
    ["disabled call of a Logger", 50_000, ({ logger }) => logger.debug("x")],
    ["disabled call of a Logger without a context", 50_000, ({ bare }) => bare.debug("x", "OrdersService")],
    ["disabled call of the class", 50_000, () => Logger.debug("x", "OrdersService")],
    ["disabled call of a ConsoleLogger", 100_000, ({ own }) => own.debug("x")],
    ["enabled call of a Logger", 5_000, ({ logger }) => logger.log("x")],
    ["enabled call of a Logger without a context", 5_000, ({ bare }) => bare.log("x", "OrdersService")],
    ["enabled call of the class", 5_000, () => Logger.log("x", "OrdersService")],
    ["enabled call of a ConsoleLogger", 5_000, ({ own }) => own.log("x")],
  ],
});
