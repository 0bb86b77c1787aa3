import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../src/actuator.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";

test("a record names the handler in which it was written, also after an await", async () => {
  const log = pino({ level: "info" }, { write: () => {} });
  const graph = integrationGraph({ app: "shop" });
  const charge = graph.serviceActivator("charge", { input: graph.messageChannel("orders") });
  const actuator = createActuator({ loggers: { adapters: [pinoLoggers(log)] }, integrationGraph: graph });
  onTestFinished(() => actuator.close());
  const handle = charge.handle(async (order: number) => {
    await null;
    log.info({ order }, "charged");
  });

  const tail = actuator.logs!.open();
  log.info("outside");
  await handle(4711);
  const { id } = graph.graph.find("charge")!;
  for await (const event of tail) {
    expect(event).toMatchObject({
      records: [
        { message: "outside", node: undefined },
        { message: "charged", fields: { order: 4711 }, node: { id, name: "charge" } },
      ],
    });
    break;
  }
});
