// @module-tag slow
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type Actuator, createActuator } from "../../src/index.ts";
import { requirement } from "../support/requirement.ts";
import { freePort, ServerFolder } from "../support/server-process.ts";

const hasNginx = requirement("nginx", spawnSync("nginx", ["-v"]).status === 0);

const ROUNDS = 12;
const CALLERS = 16;

test.runIf(hasNginx)(
  "gRPC through nginx with keep-alive loses no call while one server after the other restarts",
  async () => {
    const ports = [await freePort(), await freePort()];
    const servers: Actuator[] = [];
    onTestFinished(() => Promise.all(servers.map((server) => server.close({ deadlineMs: 0 }))).then(() => {}));
    const start = async (index: number) => {
      const actuator = createActuator({ loggers: { logLevelChanges: false }, audit: false });
      await actuator.listen({ port: ports[index]! });
      servers[index] = actuator;
    };
    await start(0);
    await start(1);
    const url = await startNginx(ports);

    const failures: string[] = [];
    let answered = 0;
    let ended = false;
    const callers = Array.from({ length: CALLERS }, async () => {
      const client = createClient(LoggersService, createGrpcTransport({ baseUrl: url }));
      while (!ended) {
        await client.setLoggerLevel({ name: "orders", level: 5 }).then(
          () => answered++,
          (error: unknown) => failures.push(ConnectError.from(error).message),
        );
      }
    });
    for (let round = 0; round < ROUNDS; round++) {
      const before = answered;
      await expect.poll(() => answered).toBeGreaterThan(before + 100);
      await servers[round % 2]!.close();
      await start(round % 2);
    }
    ended = true;
    await Promise.all(callers);
    expect(failures).toEqual([]);
  },
);

/** An nginx with these servers as its upstream, whose connections are kept and used again. */
async function startNginx(ports: readonly number[]): Promise<string> {
  const folder = new ServerFolder("nginx");
  onTestFinished(() => folder.remove());
  const listen = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  const upstream = ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`);
  writeFileSync(
    join(folder.path, "nginx.conf"),
    `daemon off; master_process off; pid nginx.pid; error_log stderr notice; events {}
    http {
      access_log off; ${temporary.join(" ")}
      upstream shop { ${upstream.join(" ")} keepalive 32; }
      server { listen 127.0.0.1:${listen} http2; location / { grpc_pass grpc://shop; grpc_set_header Host localhost; } }
    }`,
  );
  const args = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"];
  await folder.run({ command: "nginx", args, ready: /event method/ });
  return `http://127.0.0.1:${listen}`;
}
