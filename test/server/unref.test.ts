import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { rawClient } from "../support/server-harness.ts";
import { testTrust } from "../support/server-tls.ts";

/** Listens without staying alive for it, and ends its own work at SIGUSR2. */
const PROGRAM = `
import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
const work = setInterval(() => {}, 1000);
process.once("SIGUSR2", () => clearInterval(work));
const tls = process.env.TLS && JSON.parse(process.env.TLS);
console.log((await createActuator({ health: {} }).listen({ port: 0, unref: true, ...(tls && { tls }) })).url);
`;

test.each([false, true])("a port with unref lets the process end beside open connections; TLS: %s", async (isTls) => {
  const { authority, server } = await testTrust();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...(isTls && { TLS: JSON.stringify(server) }) },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  // A silent one, and a watch with a deadline that is far away.
  await rawClient(Number(new URL(url).port));
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const client = createClient(Health, createGrpcTransport({ baseUrl: url, nodeOptions: { ca: authority.ca } }));
  const watch = client.watch({}, { timeoutMs: 1_000_000, signal: ending.signal })[Symbol.asyncIterator]();
  await watch.next();
  watch.next().catch(() => {});
  child.kill("SIGUSR2");
  expect(await ended).toEqual([0, null]);
});
