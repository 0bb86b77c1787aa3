import "reflect-metadata";
import { Controller, type DynamicModule, Get, Logger, Module, type NestApplicationOptions } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { onTestFinished } from "vitest";
import type { LoggerAdapter } from "../../src/loggers/adapter.ts";
import { actuatorOf } from "./nest-actuator.ts";
import { http1Request } from "./server-harness.ts";

/** A NestJS application that is served, with an actuator over its logging library, until the test ends. */
export async function nestOrders(
  library: DynamicModule,
  options: NestApplicationOptions,
  /** Called when the application stands: what it logs with is there then. */
  adapterOf: (app: {
    get<T>(token: unknown): T;
    useLogger(logger: never): void;
  }) => LoggerAdapter | readonly LoggerAdapter[],
) {
  const app = await NestFactory.create({ module: OrdersModule, imports: [library] }, options);
  onTestFinished(() => app.close());
  const { get, post } = await actuatorOf(...[adapterOf(app as never)].flat());
  await app.listen(0, "127.0.0.1");
  const url = await app.getUrl();
  return { order: async () => (await http1Request(`${url}/orders`)).body, get, post };
}

class OrdersController {
  readonly #logger = new Logger("OrdersController");

  order(): string {
    this.#logger.verbose("verbose");
    this.#logger.debug("debug");
    this.#logger.log("log");
    this.#logger.warn("warn");
    return "ordered";
  }
}
Controller("orders")(OrdersController);
Get()(OrdersController.prototype, "order", Object.getOwnPropertyDescriptor(OrdersController.prototype, "order")!);

class OrdersModule {}
Module({ controllers: [OrdersController] })(OrdersModule);
