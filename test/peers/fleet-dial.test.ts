import { hostname } from "node:os";
import { expect, test } from "vitest";
import type { FleetInstance } from "../../src/fleet/instance.ts";
import { fleetDial } from "../../src/peers/fleet-dial.ts";

const instance = (address: string | undefined, host = hostname()) => ({ address, host }) as FleetInstance;

test.each<[string | undefined, string | undefined, string]>([
  [undefined, undefined, "it gave no address"],
  ["file:///etc/passwd", undefined, "not one of HTTP"],
  ["http://127.0.0.1:9001", "another", "its own machine only"],
  ["http://localhost:9001", "another", "its own machine only"],
  ["http://[::1]:9001", "another", "its own machine only"],
  ["http://10.0.0.8:9001", undefined, "its host is not in `fleet.peers.hosts` here: 10.0.0.8"],
  ["http://10.0.0.7.evil.example", undefined, "its host is not in `fleet.peers.hosts`"],
])("%s of the machine %s is not asked", async (address, host, reason) => {
  const dial = fleetDial({
    token: "secret-word",
    hosts: ["10.0.0.7", "*.shop.svc", "127.0.0.1", "localhost", "[::1]"],
  });
  const refused = dial(instance(address, host));
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.not.toThrow("secret-word");
});

test.each(["http://10.0.0.7:9001", "https://a.shop.svc/manage/", "http://127.0.0.1:1"])(
  "%s is asked",
  async (address) => {
    const dial = fleetDial({ token: "t", hosts: ["10.0.0.7", "*.shop.svc", "127.0.0.1"] });
    expect(await dial(instance(address))).toHaveProperty("unary");
  },
);
