import "reflect-metadata";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConsoleLogger, type DynamicModule, Inject, Injectable, Logger, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { expect, onTestFinished, test } from "vitest";
import { ACTUATOR, ActuatorModule, nestjsLoggers } from "../../../src/frameworks/nestjs/index.ts";
import type { Actuator } from "../../../src/index.ts";

/** The path of a Unix socket in a folder of this test. */
function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "ca-nest-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "a.sock");
}

/** Asks the actuator at a Unix socket; resolves to the status and the body, rejects if nothing listens there. */
function get(socketPath: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path, headers: { connection: "close" } }, async (response) => {
      const chunks = await response.toArray();
      resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString() });
    })
      .on("error", reject)
      .end();
  });
}

/** An application of NestJS with this module, closed when the test ends. */
async function start(module: DynamicModule, providers: readonly (new (...args: never[]) => object)[] = []) {
  class AppModule {}
  Module({ imports: [module], providers: [...providers] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false, logger: ["error"] });
  onTestFinished(() => app.close());
  return app;
}

const adapters = () => [nestjsLoggers({ Logger, ConsoleLogger })];

test("an application with the module answers for its loggers, until it shuts down", async () => {
  const path = socketPath();
  const app = await start(ActuatorModule.forRoot({ loggers: { adapters: adapters() }, listen: { path } }));
  new Logger("OrdersService").debug("found when it is first used");
  const { status, body } = await get(path, "/actuator/loggers/OrdersService");
  expect(status).toBe(200);
  expect(JSON.parse(body).effectiveLevel).toBe("ERROR");
  await app.close();
  await expect(get(path, "/actuator/health")).rejects.toThrow();
});

test("options come from other providers, and providers are given the actuator", async () => {
  class Orders {
    readonly actuator: Actuator;
    constructor(actuator: Actuator) {
      this.actuator = actuator;
    }
  }
  Injectable()(Orders);
  Inject(ACTUATOR)(Orders, undefined, 0);
  class Settings {
    readonly path = socketPath();
  }
  Injectable()(Settings);
  class SettingsModule {}
  Module({ providers: [Settings], exports: [Settings] })(SettingsModule);

  const module = ActuatorModule.forRootAsync({
    imports: [SettingsModule],
    inject: [Settings],
    useFactory: async ({ path }: Settings) => ({ name: "shop", loggers: { adapters: adapters() }, listen: { path } }),
  });
  const app = await start(module, [Orders]);
  const { actuator } = app.get(Orders);
  expect(app.get(ACTUATOR)).toBe(actuator);
  actuator.loggers?.setLevel("OrdersService", "DEBUG");
  const { body } = await get(app.get(Settings, { strict: false }).path, "/actuator/loggers/OrdersService");
  expect(JSON.parse(body)).toEqual({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
});

test("without an address there is no port, and the handler can be mounted", async () => {
  const app = await start(ActuatorModule.forRoot({ loggers: { adapters: adapters() } }));
  expect(app.get<Actuator>(ACTUATOR).handler).toBeTypeOf("function");
});

test("options that createActuator refuses end the start", async () => {
  await expect(start(ActuatorModule.forRoot({ loggrs: {} } as never))).rejects.toThrow(/did you mean "loggers"/);
});
