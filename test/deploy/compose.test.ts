// @module-tag slow
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { cli } from "../cli/cli-process.ts";
import { CAN_RUN, Containers, imageOf } from "./containers.ts";
import { textOf } from "./manifests.ts";
import { createSecrets, listed } from "./secrets.ts";

interface ComposeService {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly build?: { readonly target: "sample" | "serve" };
  readonly healthcheck: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
}

const compose = parse(textOf("deploy/compose.yaml"), { merge: true });
const services = Object.entries<ComposeService>(compose.services);

describe.runIf(CAN_RUN)("what the Compose file starts", () => {
  test("is three shops in one fleet, which serve reads and changes", { timeout: 120_000 }, async () => {
    await using containers = new Containers();
    const { operator, files } = await createSecrets();
    for (const [name, { file }] of Object.entries<{ file: string }>(compose.secrets))
      containers.write(`/run/secrets/${name}`, files[file.replace("secrets/", "")]!);
    for (const [name] of services) containers.address(name);
    await Promise.all(
      services.map(([name, { build, command, environment = {} }]) => {
        if (build === undefined) return containers.startRedis(name, command!);
        const { ACTUATOR_FLEET_PEERS_HOSTS: hosts = "", ...rest } = environment;
        const addresses = hosts.split(",").map((host) => containers.address(host));
        return containers.start(name, build.target, { ...rest, ACTUATOR_FLEET_PEERS_HOSTS: addresses.join() });
      }),
    );

    for (const [name, { build, healthcheck, ports = [] }] of services) {
      const [kind, ...command] = healthcheck.test;
      expect([name, kind, await containers.run(name, command)]).toEqual([name, "CMD", 0]);
      for (const port of ports) expect(await containers.listens(name, Number(port.split(":").at(-1)))).toBe(true);
      if (build === undefined) continue;
      const image = imageOf(build.target);
      expect([name, await containers.run(name, image.healthcheck)]).toEqual([name, 0]);
      for (const port of image.exposed) expect([name, await containers.listens(name, port)]).toEqual([name, true]);
    }

    const at = ["--url", `http://${containers.address("serve")}:9001`, "--token", operator];
    await expect.poll(() => listed(at)).toEqual(["shop-1 eu", "shop-2 eu", "shop-3 us"]);
    const set = await cli(["fleet", "set", "shop.orders", "error", "--on", "zone=eu", ...at]);
    expect([set.code, set.stdout]).toEqual([0, "INSTANCE  STATUS\nshop-1    APPLIED\nshop-2    APPLIED\n"]);
    const { code, stdout } = await cli(["fleet", "differences", ...at]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/shop\.orders +ERROR +shop-1, shop-2\n +\S+ +shop-3/);
    const graph = await cli(["fleet", "graph", ...at]);
    expect([graph.code, graph.stdout.length > 100]).toEqual([0, true]);
  });

  test("is unhealthy without its port", async () => {
    await using containers = new Containers();
    for (const [name, { healthcheck }] of services) {
      expect([name, await containers.run(name, healthcheck.test.slice(1))]).toEqual([name, 1]);
    }
  });
});
