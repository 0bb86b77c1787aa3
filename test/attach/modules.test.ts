import { expect, test } from "vitest";
import { attachTo, runPlain } from "../support/attach-command.ts";
import { applicationFolder } from "../support/auto-application.ts";

const LOGTAPE = `
configureSync({ sinks: {}, loggers: [{ category: ["shop"], lowestLevel: "info" }] });
const log = getLogger(["shop", "orders"]);
setInterval(() => log.info("used"), 20);
console.log("ready");`;
const NAMES = "{ configureSync, getLogger }";

test.each([
  ["an ES module that was imported", "shop.mjs", `import ${NAMES} from "@logtape/logtape";`, /^file:.*\/logger\.js$/],
  ["an ES module that was required", "shop.cjs", `const ${NAMES} = require("@logtape/logtape");`, /\/logger\.c?js$/],
])("%s is found without loading it again", async (_, script, line, path) => {
  const folder = applicationFolder({ [script]: line + LOGTAPE });
  const shop = runPlain(folder, script);
  await shop.said("ready");
  const { stdout, stderr, code } = await attachTo(folder, shop.child.pid!, "--json");
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    libraries: [{ library: "logtape", path: expect.stringMatching(path) }],
    unseen: [],
  });
  expect((await shop.describe()).shows.loggers).toEqual(["logtape"]);
  expect((await shop.get("/loggers")).loggers).toMatchObject({ shop: { configuredLevel: "INFO" } });
});

test("a module that was imported by a URL with a query is said to be unseen", async () => {
  const folder = applicationFolder({
    "shop.mjs": `
      import { createRequire } from "node:module";
      import { pathToFileURL } from "node:url";
      const path = import.meta.dirname + "/node_modules/@logtape/logtape/dist/logger.js";
      await import(pathToFileURL(path).href + "?again");
      setInterval(() => {}, 1000);
      console.log("ready");`,
  });
  const shop = runPlain(folder, "shop.mjs");
  await shop.said("ready");
  const { stdout, stderr, code } = await attachTo(folder, shop.child.pid!);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/not seen +logtape \(file:.*\?again\)/);
});
