// @module-tag slow
import { describe } from "vitest";
import { type NatsFleetOptions, natsFleet } from "../../../../src/adapters/fleet/nats/index.ts";
import { natsFound, startNats } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { testFleetEngine } from "../engine-contract.ts";

const sources: Record<string, (url: string) => string | NatsFleetOptions> = {
  "a URL": (url) => `nats://${url}`,
  "options that would keep a dead connection": (url) => ({
    servers: url,
    reconnect: true,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    pingInterval: 10,
    noEcho: true,
    timeout: 60_000,
  }),
};

describe.runIf(requirement("nats-server", natsFound))("natsFleet", () => {
  describe.each(Object.entries(sources))("of %s", (_, given) => {
    testFleetEngine("as an engine", async () => {
      const server = await startNats();
      return { source: natsFleet(given(server.url)), server, stop: () => server.stop() };
    });
  });
});
