import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { FleetEngineSource } from "../../src/fleet/engine.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type Actuator, type ActuatorOptions, createActuator, memoryFleet } from "../../src/index.ts";
import { libraryOf } from "../support/rpc-harness.ts";

/** An application that a page shows. */
export interface ShownApplication {
  readonly actuator: Actuator;
  readonly url: string;
}

/** Starts an instance of the shop. */
export async function start(
  engine: FleetEngineSource,
  zone: string,
  options: Partial<ActuatorOptions> = {},
): Promise<ShownApplication> {
  const actuator = createActuator({
    name: "shop",
    version: "4.18.2",
    audit: false,
    loggers: { adapters: [libraryOf(["shop", "shop.orders"])], logLevelChanges: false, instance: `web-${zone}` },
    fleet: { engine, labels: { zone } },
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  return { actuator, url };
}

/** Starts two instances of one fleet. */
export async function two(
  options: Partial<ActuatorOptions> = {},
): Promise<readonly [ShownApplication, ShownApplication]> {
  const engine = memoryFleet();
  return [await start(engine, "eu", options), await start(engine, "us", options)];
}

/** Starts what reads a fleet and has no loggers of its own, as `connect-actuator serve`. */
export function startReader(engine: FleetEngineSource): Promise<ShownApplication> {
  const fleet = { engine, name: "shop", role: "reader" } as const;
  return start(engine, "", { name: undefined, loggers: { logLevelChanges: false }, fleet });
}

export function levelOf({ actuator }: ShownApplication): string {
  return (actuator.loggers!.get("shop.orders") as { effectiveLevel: string }).effectiveLevel;
}

/** Changes the fleet as another client does. */
export function loggersAt(url: string, token = ""): Client<typeof LoggersService> {
  const authorize: Interceptor = (next) => (request) => {
    if (token !== "") request.header.set("Authorization", `Bearer ${token}`);
    return next(request);
  };
  const baseUrl = `${url}/actuator/rpc`;
  return createClient(
    LoggersService,
    createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: [authorize] }),
  );
}

/** Fills in the dialog for a level of `shop.orders`. */
export async function fill(page: Page, level: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Logger or group").fill("shop.orders");
  await dialog.getByRole("radio", { name: level }).click();
  await dialog.getByLabel("Reason").fill("ticket 812");
}
