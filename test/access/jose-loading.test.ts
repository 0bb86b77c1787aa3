import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tokenFile, tokenOf } from "./fixtures.ts";

/** Says what of jose a process has loaded that does this. */
async function loaded(use: string): Promise<string> {
  const code = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ resolve: (specifier, context, next) => (loaded.push(specifier), next(specifier, context)) });
    const { Access } = await import(${JSON.stringify(join(import.meta.dirname, "../../src/access/access.ts"))});
    ${use}
    console.log(loaded.includes("jose"));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
  return stdout.trim();
}

test("the library for JWTs is loaded only where they are let in", async () => {
  const { token, entry } = tokenOf("alice");
  const file = JSON.stringify(tokenFile(entry));
  const request = `{ authorization: "Bearer ${token}", header() {} }`;
  expect(await loaded(`const a = new Access({ tokens: ${file} }); a.authenticate(${request}); a.close();`)).toBe(
    "false",
  );
  const jwt = `{ jwks: "http://127.0.0.1:1/keys", issuer: "a", audience: "b" }`;
  expect(await loaded(`await new Access({ jwt: ${jwt} }).ready();`)).toBe("true");
});

test("what is watched keeps no process alive", async () => {
  const file = JSON.stringify(tokenFile());
  // The process of `loaded` ends by itself, or the test never does.
  expect(await loaded(`new Access({ tokens: ${file}, authorize: async () => undefined });`)).toBe("false");
});
