import { expect, test } from "vitest";
import { FleetRegister, memoryFleet } from "../../src/fleet/register.ts";
import { testFleetEngine } from "../adapters/fleet/engine-contract.ts";

testFleetEngine("memoryFleet", async () => ({ source: memoryFleet(), stop: async () => {} }));

test("forgets a report a minute after the last beat", () => {
  let now = 1_000_000;
  const register = new FleetRegister(() => now);
  register.exchange("", { id: "a", text: "1" });
  now += 60_000;
  register.exchange("", { id: "b", text: "2" });
  expect(register.instances().map(({ id }) => id)).toEqual(["a", "b"]);
  now += 1;
  expect(register.instances()).toEqual([{ id: "b", text: "2", seen: 1_060_000 }]);
});
