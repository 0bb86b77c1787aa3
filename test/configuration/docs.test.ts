import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { configurationSchema, standaloneConfiguration } from "../../src/configuration/index.ts";
import { standaloneFaults } from "../../src/standalone/index.ts";
import { folderWith } from "./folder.ts";

const text = readFileSync(join(import.meta.dirname, "..", "..", "docs", "configuration.md"), "utf8");
const files = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => json!);

describe("the files of the documentation", () => {
  test("are there", () => expect(files).toHaveLength(2));

  test.each(files)("%s", (json) => {
    const validate = new Ajv2020({ strict: false }).compile(configurationSchema());
    validate(JSON.parse(json));
    expect(validate.errors).toBeNull();
    const secrets = { "id.key": "0123456789abcdef", "session-id-key": "0123456789abcdef", "fleet.token": "token" };
    const folder = folderWith({ "actuator.json": json.replace("/run/secrets/", ""), ...secrets });
    const read = standaloneConfiguration({ file: join(folder, "actuator.json"), env: {} });
    if (json.includes("fleet")) expect(standaloneFaults(read)).toEqual([]);
  });
});
