// @module-tag slow
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { scratchFolder } from "./folders.ts";
import { Program } from "./program.ts";
import { Shop } from "./shop.ts";
import { clientTests } from "./suite.ts";
import { python } from "./tools.ts";

const runs = requirement("python3 with venv", python !== undefined);
const build = () => built("python", [python!]);

clientTests({ name: "grpcio, in Python", runs, build });

describe.runIf(runs)("grpcio over a Unix socket", () => {
  test("is served, though it names the path of the socket as host", async () => {
    await using folder = await scratchFolder();
    const path = join(folder.path, "shop.sock");
    await using shop = await Shop.open({}, { path });
    await using program = new Program(await build(), ["set", "shop.web", "debug"], {
      ACTUATOR_ADDRESS: `unix:${path}`,
    });
    expect(await program.outcome()).toEqual({ code: 0, lines: ["shop.web at DEBUG, was UNSPECIFIED"], errors: "" });
    expect(shop.errors).toEqual([]);
  });
});
