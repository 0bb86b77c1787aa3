// @module-tag slow
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { cli } from "../cli/cli-process.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { freePort } from "../support/server-process.ts";

const root = join(import.meta.dirname, "..", "..");
const soon = { timeout: 60_000, interval: 200 };

interface Services {
  readonly [name: string]: { readonly environment: Readonly<Record<string, string>> };
}

/** The commands of the images, with the environment of the Compose file, on this machine instead of in containers. */
const COMMANDS: Readonly<Record<"shop" | "serve", (shopConfig: string) => readonly string[]>> = {
  shop: (config) => ["src/sample/start.js", "--shop-port", "0", "--no-traffic", "--config", config],
  serve: () => ["bin/connect-actuator.js", "serve"],
};

describe.runIf(requirement("redis-server", redisFound))("what the Compose file starts", () => {
  test("is three shops in one fleet, which serve reads and changes", { timeout: 120_000 }, async () => {
    await using redis = await startRedis();
    const folder = mkdtempSync(join(tmpdir(), "compose-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const tokens = join(folder, "tokens.json");
    const create = async (name: string, ...permissions: string[]) => {
      const args = ["token", "create", "--file", tokens, "--name", name, "--permission", ...permissions];
      return /ca_\S+/.exec((await cli(args)).stdout)![0];
    };
    const operator = await create("operator", "*", "logs:read");
    writeFileSync(join(folder, "fleet.token"), await create("fleet", "loggers:read", "graph:read", "logs:read"));

    const { services } = parse(readFileSync(join(root, "deploy/compose.yaml"), "utf8"), { merge: true }) as {
      services: Services;
    };
    const shopConfig = join(folder, "shop.json");
    const shop = JSON.parse(readFileSync(join(root, "deploy/shop.json"), "utf8"));
    writeFileSync(shopConfig, JSON.stringify({ ...shop, access: { tokens } }));
    const names = Object.keys(services).filter((name) => name !== "redis");
    const ports = new Map<string, number>();
    for (const name of names) ports.set(name, await freePort());
    const here = (text: string) =>
      text
        .replaceAll("redis://redis:6379", redis.url)
        .replace(/http:\/\/(shop-\d):9001/, (_, name) => `http://127.0.0.1:${ports.get(name)}`)
        .replace("shop-1,shop-2,shop-3", "127.0.0.1")
        .replace("/run/secrets/tokens", tokens)
        .replace("/run/secrets/fleet-token", join(folder, "fleet.token"));
    const children: ChildProcess[] = [];
    onTestFinished(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    for (const name of names) {
      const own = Object.entries(services[name]!.environment).map(([variable, value]) => [variable, here(value)]);
      const env = { ...process.env, ...Object.fromEntries(own), ACTUATOR_LISTEN_PORT: `${ports.get(name)}` };
      const command = COMMANDS[name === "serve" ? "serve" : "shop"](shopConfig);
      children.push(
        spawn(process.execPath, command, {
          cwd: root,
          env: { ...env, ACTUATOR_LISTEN_HOST: "127.0.0.1" },
          stdio: "ignore",
        }),
      );
    }

    const at = ["--url", `http://127.0.0.1:${ports.get("serve")}`, "--token", operator];
    const listed = async () => {
      const { stdout } = await cli(["fleet", "list", "--json", ...at]);
      const { instances = [] } = stdout === "" ? {} : JSON.parse(stdout);
      return instances.map(({ id, labels }: { id: string; labels: { zone: string } }) => `${id} ${labels.zone}`);
    };
    await expect.poll(listed, soon).toEqual(["shop-1 eu", "shop-2 eu", "shop-3 us"]);
    const set = await cli(["fleet", "set", "shop.orders", "error", "--on", "zone=eu", ...at]);
    expect([set.code, set.stdout]).toEqual([0, "INSTANCE  STATUS\nshop-1    APPLIED\nshop-2    APPLIED\n"]);
    const { code, stdout } = await cli(["fleet", "differences", ...at]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/shop\.orders +ERROR +shop-1, shop-2\n +\S+ +shop-3/);
    const graph = await cli(["fleet", "graph", ...at]);
    expect([graph.code, graph.stdout.length > 100]).toEqual([0, true]);
  });
});
