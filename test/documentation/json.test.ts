import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { decodeTokens } from "../../src/access/token-file.ts";
import { configurationSchema, standaloneConfiguration } from "../../src/configuration/index.ts";
import { folderWith } from "../configuration/folder.ts";
import { type Block, blocksOf } from "./pages.ts";

const blocks = blocksOf("json");
const configurations = blocks.filter(({ page }) => page === "docs/configuration.md");
const tokenFiles = blocks.filter(({ code }) => code.includes('"tokens": ['));

/** What the files of secrets hold that pages name. */
const SECRETS = { "id.key": "0123456789abcdef", "session-id-key": "0123456789abcdef", "fleet.token": "token" };

test.each(blocks)("$page:$line is JSON", ({ code }) => {
  JSON.parse(code);
});

test("there are files of configuration, and one of tokens", () => {
  expect(configurations).toHaveLength(2);
  expect(tokenFiles).toHaveLength(1);
});

describe.each(configurations)("the configuration at $page:$line", ({ code }: Block) => {
  test("is as the schema has it", () => {
    const validate = new Ajv2020({ strict: false }).compile(configurationSchema());
    validate(JSON.parse(code));
    expect(validate.errors).toBeNull();
  });

  test("starts a sidecar, or an application that brings what it does not say", () => {
    const { sessions, access, listen, ...rest } = JSON.parse(code);
    const isSidecar = "fleet" in rest;
    const added = isSidecar ? {} : { fleet: { redis: "redis://10.0.0.7" } };
    const here = JSON.stringify({
      ...rest,
      ...added,
      sessions: { store: { redis: "redis://127.0.0.1" }, ...sessions },
      ...(listen && { listen: { ...listen, tls: { cert: "cert.pem", key: "key.pem" } } }),
      ...(access && { access: { tokens: "tokens.json" } }),
    }).replace("/run/secrets/", "");
    const files = { "cert.pem": "", "key.pem": "", "tokens.json": "", ...SECRETS };
    const folder = folderWith({ "actuator.json": here, ...files });
    expect(standaloneConfiguration({ file: join(folder, "actuator.json"), env: {} }).settings.length).toBeGreaterThan(
      0,
    );
  });
});

test.each(tokenFiles)("the file of tokens at $page:$line can be read", ({ code }) => {
  expect(decodeTokens(Buffer.from(code))).not.toEqual([]);
});
