import { NestFactory } from "@nestjs/core";
import { ClientProxyFactory, type MicroserviceOptions, Transport } from "@nestjs/microservices";
import { firstValueFrom } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import { nestjsSource } from "../../../../src/adapters/graph/nestjs/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { freePort } from "../../../support/server-process.ts";
import { picture } from "../in-process/support.ts";
import { shop } from "./shop.ts";

test("a microservice alone is drawn with its own server", async () => {
  const port = await freePort();
  const options = { host: "127.0.0.1", port };
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(shop(port), {
    logger: false,
    transport: Transport.TCP,
    options,
  });
  onTestFinished(() => service.close());
  const flow = integrationGraph({ app: "warehouse" });
  flow.attach(nestjsSource(service));
  await service.listen();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  onTestFinished(() => client.close());
  expect(await firstValueFrom(client.send("stock", "1"))).toBe("1: 3");
  const { nodes, links } = picture(flow.graph);
  expect(nodes["message-pattern WarehouseController.stock"]).toBe("1 ok, 0 failed");
  // The sender is not of this application.
  expect(nodes["pattern stock"]).toBe("0 ok, 0 failed");
  expect(links["pattern stock -input-> message-pattern WarehouseController.stock"]).toBe(1);
});
