import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Fleet } from "../../../src/fleet/fleet.ts";
import { FleetPeers, whyNotAsked } from "../../../src/http/rpc/fleet-peers.ts";

const instance = { isGone: false } as Parameters<typeof whyNotAsked>[0];

test("a call asks 200 instances, and none that is gone", () => {
  expect([whyNotAsked(instance, 199), whyNotAsked({ ...instance, isGone: true }, 0)]).toEqual([
    undefined,
    "it has not reported for 15 seconds",
  ]);
  expect(whyNotAsked(instance, 200)).toMatch(/at most 200 instances/);
});

test("many instances that hang are all named within 9 seconds", { tags: ["slow"], timeout: 20_000 }, async () => {
  const ids = Array.from({ length: 50 }, (_, at) => `i${at + 10}`);
  const fleet = { instances: async () => ids.map((id) => ({ ...instance, id })) } as unknown as Fleet;
  const peers = new FleetPeers(fleet, async () => ({}) as never, {
    clients: () => undefined as never,
    serves: () => true,
  });
  const context = { values: createContextValues(), signal: new AbortController().signal };
  const hang = (_: unknown, signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const { answers, unread } = await peers.ask("", context, hang);
  expect(answers).toEqual([]);
  expect(unread.map(({ instance: id }) => id)).toEqual(ids);
  const reasons = unread.map(({ reason }) => reason);
  expect(reasons.slice(0, 32)).toEqual(Array(32).fill("no answer within 4 s"));
  expect(reasons.slice(40)).toEqual(Array(10).fill("not asked in time, because others do not answer"));
});
