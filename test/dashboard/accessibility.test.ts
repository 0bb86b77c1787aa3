// @module-tag slow
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { createActuator } from "../../src/index.ts";
import { type Sample, startSample } from "../../src/sample/sample.ts";
import { accessibilityFaults, CHROMIUM, openPage, overflow, useBrowser } from "./support.ts";

const LOOKS = [
  { colorScheme: "light", width: 375 },
  { colorScheme: "dark", width: 375 },
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
] as const;

const SCREENS = [
  "#/overview",
  "#/loggers",
  "#/loggers/shop.orders",
  "#/loggers?filter=nothing-like-it",
  "#/logs",
  "#/sessions",
  "#/graph",
  "#/graph?view=table",
  "#/fleet",
];

describe.runIf(CHROMIUM)("WCAG 2.2 AA and axe's best practices", () => {
  useBrowser();
  let sample: Sample;
  beforeAll(async () => {
    await buildDashboard();
    sample = await startSample({ host: "127.0.0.1", port: 0, shopPort: 0, traffic: true });
    sample.open();
    return () => sample.close();
  });

  describe.each(LOOKS)("$colorScheme, $width px", ({ colorScheme, width }) => {
    const options = { colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" } as const;

    test.each(SCREENS)("%s", async (path) => {
      const { page } = await openPage(sample.actuator, path, options);
      await page.locator("main > :not(.skeleton)").first().waitFor();
      await page.locator(".foot bdi, .nav-foot bdi").first().waitFor({ state: "attached" });
      const faults = await accessibilityFaults(page);
      // A node is drawn with "0.8/s" and read as "0.8 a second"; its name comes first in both.
      expect(faults.filter((each) => !/^label-content-name-mismatch: <a class="n\b/.test(each))).toEqual([]);
      expect(await overflow(page)).toBe(0);
    });

    test("the palette, and the keys", async () => {
      const { page } = await openPage(sample.actuator, "#/overview", options);
      await page.getByRole("button", { name: /^Find a logger/ }).click();
      await page.keyboard.type("shop");
      await page.getByRole("option").first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    });

    test("signing in", async () => {
      const actuator = createActuator({ access: { authorize: () => undefined } });
      onTestFinished(() => actuator.close());
      const { url } = await actuator.listen({ port: 0 });
      const { page } = await openPage(url, "", { ...options, expected: /401/ });
      await page.getByRole("form", { name: "Token" }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    });
  });
});
