// @module-tag slow
import { describe } from "vitest";
import { serveFleet } from "../../../../src/adapters/fleet/serve/index.ts";
import { testFleetEngine } from "../engine-contract.ts";
import { startKeepingServer } from "./server.ts";

describe("serveFleet", () => {
  testFleetEngine("of a process without access control", async () => {
    const server = await startKeepingServer();
    return { source: serveFleet(server.url), server, stop: () => server.stop() };
  });
});
