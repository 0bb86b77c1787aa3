/** A small shop on NestJS, managed by an actuator: run as a process of its own by the tests of the adapter. */
import "reflect-metadata";
import {
  ConsoleLogger,
  Controller,
  Get,
  Inject,
  Injectable,
  Logger,
  Module,
  type NestApplicationOptions,
  Param,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { nestjsLoggers } from "../../src/adapters/loggers/nestjs/index.ts";
import { createActuator } from "../../src/index.ts";

class PaymentService {
  readonly #logger = new Logger(PaymentService.name);

  pay(id: string): void {
    this.#logger.debug(`paying ${id}`);
  }
}
Injectable()(PaymentService);

class OrdersService {
  readonly #logger = new Logger("shop.OrdersService");
  readonly #payment: PaymentService;

  constructor(payment: PaymentService) {
    this.#payment = payment;
  }

  order(id: string): string {
    this.#logger.verbose(`looking for ${id}`);
    this.#logger.debug(`ordering ${id}`);
    this.#payment.pay(id);
    this.#logger.log(`ordered ${id}`);
    return id;
  }
}
Injectable()(OrdersService);
Inject(PaymentService)(OrdersService, undefined, 0);

class OrdersController {
  readonly #orders: OrdersService;

  constructor(orders: OrdersService) {
    this.#orders = orders;
  }

  order(id: string): string {
    Logger.debug(`request for ${id}`, OrdersController.name);
    const answer = this.#orders.order(id);
    // Whatever has been written about the order stands before this.
    process.stdout.write(`answered ${id}\n`);
    return answer;
  }
}
Controller("orders")(OrdersController);
Inject(OrdersService)(OrdersController, undefined, 0);
Get(":id")(OrdersController.prototype, "order", Object.getOwnPropertyDescriptor(OrdersController.prototype, "order")!);
Param("id")(OrdersController.prototype, "order", 0);

class ShopModule {}
Module({ controllers: [OrdersController], providers: [OrdersService, PaymentService] })(ShopModule);

/** What the shop does about logging, by its first argument. */
const LOGGING: Readonly<Record<string, () => NestApplicationOptions>> = {
  default: () => ({}),
  levels: () => ({ logger: ["log", "warn", "error"] }),
  json: () => ({ logger: new ConsoleLogger({ json: true, logLevels: ["log"] }) }),
  buffered: () => ({ bufferLogs: true }),
};

const logging = process.argv[2]!;
const actuator = createActuator({
  loggers: { adapters: [nestjsLoggers({ Logger, ConsoleLogger })] },
});
const app = await NestFactory.create(ShopModule, LOGGING[logging]!());
if (logging === "buffered") app.useLogger(new ConsoleLogger({ prefix: "Shop", logLevels: ["log"] }));
await app.listen(0, "127.0.0.1");
const { url } = await actuator.listen({ port: 0 });
process.stdout.write(`serving ${await app.getUrl()} ${url}\n`);
process.once("SIGTERM", async () => {
  await actuator.close();
  new Logger("shop.OrdersService").debug("after the actuator");
  new Logger("PaymentService").log("after the actuator");
  await app.close();
});
