import { fork } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../src/index.ts";
import type { Limits } from "../../src/server/limits.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";
import { messageOf } from "../support/child-message.ts";
import { WIRES } from "../support/rpc-harness.ts";
import { eventually } from "../support/server-harness.ts";

const COUNT = 25;
const never = 600_000;
const soon = 100;
/** A client that starts, where much else is going on, answers late; only one that stands still does not answer by then. */
const patience = 50 * soon;

const nameOf = ({ protocol, httpVersion }: (typeof WIRES)[number]) => `${protocol} ${httpVersion}`;
const all = WIRES.map(nameOf);
const overHttp2 = WIRES.filter(({ httpVersion }) => httpVersion === "2").map(nameOf);

/** A whole actuator whose loggers a process of its own watches, many times over each wire. */
async function watched(limits: Partial<Limits>, wires: readonly string[]) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const actuator = createActuator({
    access: "loopback",
    loggers: {},
    metrics: true,
    audit: false,
    heartbeatMs: 200,
    onError,
  });
  onTestFinished(() => actuator.close());
  const listener = createListener(actuator.handler, { limits: { ...limits, sweepIntervalMs: 20 }, onError });
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  const { url } = await listener.listen({ port: 0 });
  const client = fork(join(import.meta.dirname, "watching-client.ts"), [url, `${COUNT}`, ...wires]);
  onTestFinished(() => void client.kill("SIGKILL"));
  await messageOf(client);
  const streams = () => {
    const { points } = actuator.metrics!.gauges().find(({ name }) => name === "actuator.streams")!;
    return points.reduce((sum, { value }) => sum + value, 0);
  };
  expect(streams()).toBe(COUNT * wires.length);
  return { client, listener, streams, errors };
}

async function freed({ listener, streams }: { listener: Listener; streams: () => number }): Promise<string> {
  const began = performance.now();
  await eventually(
    () => streams() === 0 && Object.values(listener.counts).every((count) => count === 0),
    () => `${streams()} watches, ${JSON.stringify(listener.counts)}`,
  );
  return `${(performance.now() - began).toFixed(0)} ms`;
}

describe("watches of a client that is gone", () => {
  test("are freed when it is killed, with and without pings", async () => {
    const server = await watched({ pingIntervalMs: never, pingTimeoutMs: never, idleSessionTimeoutMs: never }, all);
    server.client.kill("SIGKILL");
    console.log(`${COUNT * all.length} watches of a killed client were freed after ${await freed(server)}`);
    expect(server.errors).toEqual([]);
  });

  test("are freed over HTTP/2 when it stands still and answers no PING", async () => {
    const server = await watched({ pingIntervalMs: soon, pingTimeoutMs: patience }, overHttp2);
    server.client.kill("SIGSTOP");
    const time = await freed(server);
    console.log(
      `${COUNT * overHttp2.length} watches of a stopped client were freed after ${time}; limits ${soon} + ${patience} ms`,
    );
    expect(server.errors).toEqual([]);
  });

  test("stand while it reads, far beyond the limits", async () => {
    const { streams, errors } = await watched(
      {
        pingIntervalMs: soon,
        pingTimeoutMs: patience,
        idleSessionTimeoutMs: patience,
        requestTimeoutMs: patience,
        stalledWriteTimeoutMs: patience,
      },
      all,
    );
    // Time for each of the limits to be over: there is no event to wait for.
    await new Promise((resolve) => setTimeout(resolve, 1.5 * patience));
    expect(streams()).toBe(COUNT * all.length);
    expect(errors).toEqual([]);
  });
});
