// @module-tag slow
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { pino } from "pino";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator, memoryFleet } from "../../src/index.ts";
import { CHROMIUM, openPage, useBrowser } from "./support.ts";

/** Kilobytes, compressed with gzip. */
const BUDGET = 89;

describe.runIf(CHROMIUM)("the size of the page", () => {
  useBrowser();
  let built: string;
  beforeAll(async () => {
    built = await buildDashboard();
  });

  test.each(["overview", "loggers", "logs", "sessions", "fleet"])("%s loads within the budget", async (screen) => {
    const actuator = createActuator({
      name: "shop",
      fleet: memoryFleet(),
      loggers: { adapters: [pinoLoggers(pino({ enabled: false }))] },
    });
    onTestFinished(() => actuator.close());
    const { url } = await actuator.listen({ port: 0 });
    const { page } = await openPage(url, `#/${screen}`);
    await page.locator(".nav-foot bdi").waitFor();
    await page.locator("main > :not(.skeleton)").first().waitFor();
    const names = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/assets/'))",
    );
    // The browser does not tell the page of the script of a shared worker.
    const worker = readdirSync(join(built, "assets")).find((name) => /^worker-.*\.js\.gz$/.test(name))!;
    const files = new Set([...names.map((name) => `${basename(name)}.gz`), worker]);
    const sizes = [...files].map((name) => statSync(join(built, "assets", name)).size);
    const sum = sizes.reduce((a, b) => a + b, statSync(join(built, "index.html.gz")).size);
    console.info(`${screen}: ${(sum / 1_000).toFixed(1)} KB gzip in ${files.size + 1} files`);
    expect(sum).toBeLessThan(BUDGET * 1_000);
  });
});
