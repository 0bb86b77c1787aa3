import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { eventually, http1Request, rawClient } from "../support/server-harness.ts";

interface Child {
  readonly process: ChildProcess;
  readonly url: string;
  readonly lines: string[];
  /** Resolves to the exit code, or the name of the signal that ended the process. */
  readonly ended: Promise<number | string>;
}

async function start(...what: string[]): Promise<Child> {
  const program = join(import.meta.dirname, "..", "support", "server-signals.ts");
  const child = spawn(process.execPath, [program, ...what], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  const lines: string[] = [];
  createInterface(child.stdout!).on("line", (line) => lines.push(line));
  await eventually(
    () => lines.length > 0,
    () => "the child never listened",
  );
  return { process: child, url: lines.shift()!, lines, ended };
}

test.each(["SIGTERM", "SIGINT"] as const)("%s drains, and a process with nothing left to do exits", async (signal) => {
  const child = await start();
  const client = createClient(Health, createGrpcTransport({ baseUrl: child.url }));
  const seen: unknown[] = [];
  const watching = (async () => {
    try {
      for await (const { status } of client.watch({})) seen.push(status);
      seen.push("end");
    } catch (error) {
      seen.push(Code[(error as { code: Code }).code]);
    }
  })();
  await eventually(
    () => seen.length === 1,
    () => "no answer to the watch",
  );
  child.process.kill(signal);
  await watching;
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, "Unavailable"]);
  expect(await child.ended).toBe(0);
  expect(child.lines).toEqual(["exit 0"]);
});

test("an application that still runs and listens for no signal is ended by it after the drain", async () => {
  const child = await start("busy");
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe("SIGTERM");
});

test("an application that listens itself ends when it wants to", async () => {
  const child = await start("busy", "own-listener");
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(0);
  expect(child.lines).toEqual(["application ends", "exit 0"]);
});

test("a second signal ends the process at once, whatever is under way", async () => {
  const child = await start();
  const client = await rawClient(Number(new URL(child.url).port));
  client.socket.write("POST /actuator/loggers/ROOT HTTP/1.1\r\nHost: localhost\r\n");
  client.socket.write("Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  await http1Request(`${child.url}/actuator/health`, { agent: false });
  child.process.kill("SIGTERM");
  let refused = false;
  await eventually(
    () => {
      http1Request(child.url, { agent: false }).catch((error) => {
        refused ||= error.code === "ECONNREFUSED";
      });
      return refused;
    },
    () => "the port is still open",
  );
  expect(child.process.exitCode ?? child.process.signalCode).toBeNull();
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe("SIGTERM");
});
