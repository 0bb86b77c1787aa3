// @module-tag slow
import { beforeAll, describe, expect, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { Scope } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { loggersAt, two } from "./fleet-support.ts";
import { CHROMIUM, openPage, useBrowser } from "./support.ts";

const OF_FLEET = { scope: Scope.FLEET, fleet: { selector: "" } } as const;

describe.runIf(CHROMIUM)("what the page says of a fleet", () => {
  useBrowser();
  beforeAll(buildDashboard, 60_000);

  test("a name that no logger has is named, with the one that was probably meant", async () => {
    const [eu, us] = await two();
    await loggersAt(us.url).setLoggerLevel({ ...OF_FLEET, name: "shop.ordres", level: Level.DEBUG });
    const { page } = await openPage(eu.url, "#/fleet");
    const row = page.getByRole("region", { name: "Levels of the fleet" }).getByRole("listitem").first();
    await row.getByText("No instance has a logger shop.ordres yet. Did you mean shop.orders?").waitFor();
    expect(await row.locator(".chip.ok").count()).toBe(0);
    expect(await page.locator(".fl-status.warn").innerText()).toContain("No instance has a logger shop.ordres yet.");
    await row.getByRole("link", { name: "shop.orders" }).click();
    await page.getByRole("button", { name: "On all instances" }).waitFor();
  });
});
