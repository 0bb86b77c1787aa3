import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsServer, natsFound, startNats } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { application } from "./support.ts";

let server: NatsServer;

describe.runIf(requirement("nats-server", natsFound))("subjects that are made up for each user", () => {
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server?.stop());

  test.each([
    ["one function", () => function hear() {}],
    ["a function without a name each", () => () => {}],
  ])("make room without a rebuild: %s", async (_, listener) => {
    const { nc, flow, picture } = await application(server);
    nc.subscribe("orders", { callback: function charge() {} });
    const again = () => nc.subscribe("often", { callback: function again() {} });
    for (let user = 0; user < 1_000; user++) {
      nc.subscribe(`user.${user}`, { callback: listener() }).unsubscribe();
      again().unsubscribe();
      if (user % 50 === 0) await nc.flush();
    }
    again();
    expect(flow.graph.snapshot().nodes.length).toBeLessThan(800);
    expect(picture().links).toMatchObject({
      "subject orders -input-> subscriber charge": 0,
      "subject often -input-> subscriber again": 0,
    });
    await nc.flush();
    await flow.graph.rebuild();
    expect(picture().links).toEqual({
      "subject orders -input-> subscriber charge": 0,
      "subject often -input-> subscriber again": 0,
    });
  });
});
