import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator } from "../../src/index.ts";
import { authority } from "../support/certificates.ts";
import { requirement } from "../support/requirement.ts";
import { freePort, ServerFolder } from "../support/server-process.ts";
import { blocksOf, root } from "./pages.ts";

const hasNginx = requirement("nginx", spawnSync("nginx", ["-v"]).status === 0);

/** The configuration of the page, behind a real nginx, until the test ends. */
async function behindNginx() {
  const { code } = blocksOf("nginx").find(({ page }) => page === "docs/guides/nginx.md")!;
  const folder = new ServerFolder("nginx");
  onTestFinished(() => folder.remove());
  const tokens = join(folder.path, "tokens.json");
  const cli = [join(root, "src", "cli", "main.ts"), "token", "create", "--name", "operator", "--permission", "*"];
  const created = await promisify(execFile)("node", [...cli, "--file", tokens]);
  const actuator = createActuator({
    loggers: { logLevelChanges: false },
    access: { tokens },
    trustedProxies: ["127.0.0.1"],
    audit: false,
    heartbeatMs: 200,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = new URL((await actuator.listen({ port: 0 })).url!);
  const { cert, key } = await (await authority()).issue("server");
  writeFileSync(join(folder.path, "tls.crt"), cert);
  writeFileSync(join(folder.path, "tls.key"), key);
  const listen = await freePort();
  const version = Number(/nginx\/1\.(\d+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr)![1]);
  const server = code
    .replaceAll("9001", port)
    .replace(/http2 on;.*/, version >= 25 ? "http2 on;" : "")
    .replace("listen 443 ssl;", `listen 127.0.0.1:${listen} ssl${version >= 25 ? "" : " http2"};`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  const main = `daemon off; pid nginx.pid; error_log stderr notice; events {}
    http { access_log off; ${temporary.join(" ")} ${server} }`;
  writeFileSync(join(folder.path, "nginx.conf"), main);
  const args = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"];
  await folder.run({ command: "nginx", args, ready: /start worker process/ });
  return { url: `https://127.0.0.1:${listen}`, token: created.stdout.trim() };
}

describe.runIf(hasNginx)("docs/guides/nginx.md", () => {
  test("REST, gRPC, gRPC-Web and watches pass nginx, and only with a token", async () => {
    const { url, token } = await behindNginx();
    const get = async (...headers: string[]) => {
      const args = ["-sk", "-w", "\n%{http_code}", ...headers.flatMap((header) => ["-H", header])];
      return (await promisify(execFile)("curl", [...args, `${url}/actuator/loggers`])).stdout;
    };
    expect(await get()).toMatch(/\n401$/);
    expect(await get(`Authorization: Bearer ${token}`)).toMatch(/"levels"[\s\S]*\n200$/);

    const options = { baseUrl: url, nodeOptions: { rejectUnauthorized: false } };
    const headers = { authorization: `Bearer ${token}` };
    for (const transport of [
      createGrpcTransport(options),
      createGrpcWebTransport({ ...options, httpVersion: "2" }),
      createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
    ]) {
      const client = createClient(LoggersService, transport);
      const { result } = await client.getLogger({ name: "ROOT" }, { headers });
      expect(result.value?.name).toBe("ROOT");
      // Two heartbeats: nginx passes events on as they come.
      let events = 0;
      for await (const _ of client.watchLoggers({}, { headers })) if (++events === 3) break;
    }
  });
});

test("the program of the page is the one that is tried", () => {
  const program = readFileSync(join(root, "docs", "guides", "nginx.md"), "utf8");
  expect(program).toContain('access: { tokens: "tokens.json" }');
  expect(program).toContain('trustedProxies: ["127.0.0.1"]');
});
