// @module-tag slow
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../../src/index.ts";
import { CHROMIUM, openPage, useBrowser } from "../../dashboard/support.ts";
import { blocksOf } from "../../documentation/pages.ts";
import { requirement } from "../../support/requirement.ts";
import { freePort, ServerFolder } from "../../support/server-process.ts";

const hasNginx = requirement("nginx", spawnSync("nginx", ["-v"]).status === 0);

/** Runs nginx with a location of docs/page.md until the test ends; returns its address. */
async function behindNginx(actuatorPort: number): Promise<string> {
  const { code } = blocksOf("nginx").find(({ page }) => page === "docs/page.md")!;
  const listen = await freePort();
  const folder = new ServerFolder("nginx");
  onTestFinished(() => folder.remove());
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  const server = `server { listen 127.0.0.1:${listen}; ${code.replaceAll("9001", String(actuatorPort))} }`;
  const main = `daemon off; master_process off; pid nginx.pid; error_log stderr notice; events {}
    http { access_log off; ${temporary.join(" ")} ${server} }`;
  writeFileSync(join(folder.path, "nginx.conf"), main);
  const args = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"];
  await folder.run({ command: "nginx", args, ready: /event method/ });
  return `http://127.0.0.1:${listen}`;
}

describe.runIf(CHROMIUM && hasNginx)("below a prefix that nginx strips", () => {
  useBrowser();

  test("the page shows what the service has, live, and nothing but that prefix is asked for", async () => {
    const actuator = createActuator({
      audit: false,
      access: { anonymous: ["*"] },
      trustedProxies: ["127.0.0.1"],
      loggers: { adapters: [pinoLoggers(pino({ enabled: false }))], logLevelChanges: false },
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const { port } = new URL((await actuator.listen({ port: 0 })).url);
    const url = await behindNginx(Number(port));
    const { page } = await openPage(`${url}/shop`, "#/loggers");
    const asked: string[] = [];
    page.context().on("request", (request) => asked.push(new URL(request.url()).pathname));
    const row = page.getByText("ROOT", { exact: true }).first();
    await row.waitFor();
    actuator.loggers!.setLevel("payments.cards", "DEBUG");
    await page.getByText("cards").first().waitFor();
    await page.reload();
    await row.waitFor();
    expect(asked.filter((path) => !path.startsWith("/shop/actuator/"))).toEqual([]);

    await page.goto(`${url}/shop/actuator/ui`);
    expect(page.url()).toContain("/shop/actuator/ui/");
  });
});
