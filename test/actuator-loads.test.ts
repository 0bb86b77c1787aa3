import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const index = join(import.meta.dirname, "..", "src", "index.ts");

/** The modules that a process has loaded which serves these options: of Node.js, and packages. */
async function loadedBy(options: string, request = ""): Promise<{ builtins: readonly string[]; packages: string[] }> {
  const program = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
        if (name !== undefined) packages.add(name);
        return next(url, context);
      },
    });
    const { createActuator } = await import(${JSON.stringify(index)});
    const actuator = createActuator({ access: "loopback", audit: false, ${options} });
    const { port } = await actuator.listen({ port: 0 });
    const { request } = process.getBuiltinModule("node:http");
    const ask = (options, body) => new Promise((resolve, reject) =>
      request({ port, ...options }, (response) => response.resume().once("end", () => resolve(response.statusCode)))
        .once("error", reject).end(body));
    const status = await ask({ path: "/actuator/loggers" });
    ${request}
    console.log(JSON.stringify({ status, builtins: process.moduleLoadList, packages: [...packages].sort() }));
    process.exit();`;
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { status, builtins, packages } = JSON.parse(stdout);
  expect(status).toBe(200);
  return { builtins, packages };
}

const CALL = `await ask({
  method: "POST",
  path: "/actuator.v3.LoggersService/GetLogger",
  headers: { "content-type": "application/json" },
}, '{"name":"ROOT"}');`;

const HEAVY = /NativeModule (?:http2|https|tls|internal\/deps\/undici\/undici)$/;

test("an actuator that listens and answers REST has loaded no package, no http2, no TLS and no fetch", async () => {
  const all =
    'loggers: {}, metrics: true, otlp: true, mcp: true, integrationGraph: (await import("INDEX")).integrationGraph({ app: "a" })';
  const { builtins, packages } = await loadedBy(all.replace("INDEX", index));
  expect(builtins).toContain("NativeModule http");
  expect(builtins.filter((name) => HEAVY.test(name))).toEqual([]);
  expect(packages).toEqual([]);
});

test("the first call loads what answers calls", async () => {
  const { packages } = await loadedBy("loggers: {}", CALL);
  expect(packages).toContain("@bufbuild/protobuf");
});

const MESSAGE = `await ask({
  method: "POST",
  path: "/actuator/mcp",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
}, '{"jsonrpc":"2.0","id":1,"method":"ping"}')`;

test("the first message of an agent loads what speaks MCP", async () => {
  const without = await loadedBy("loggers: {}, mcp: true", CALL);
  expect(without.packages).not.toContain("@modelcontextprotocol/server");
  const { packages } = await loadedBy("loggers: {}, mcp: true", `${MESSAGE};`);
  expect(packages).toContain("@modelcontextprotocol/server");
});

test("without the package agents get 503, the operator what to do, and a failure to load it is not kept", async () => {
  await loadedBy(
    "loggers: {}, mcp: true, onError: ({ message }) => globalThis.errors.push(message), ...(globalThis.errors = [], {})",
    `
    let isMissing = true;
    registerHooks({
      resolve(specifier, context, next) {
        if (!isMissing || specifier !== "@modelcontextprotocol/server") return next(specifier, context);
        throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });
    const before = ${MESSAGE};
    isMissing = false;
    const found = [before, ${MESSAGE}, ...globalThis.errors];
    const expected = [503, 200, "MCP needs a package that is not installed: npm install @modelcontextprotocol/server, and start again"];
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(JSON.stringify(found));
  `,
  );
});
