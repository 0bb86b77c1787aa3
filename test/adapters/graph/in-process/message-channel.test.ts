import { getEventListeners, once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { type MessageTarget, messageChannelSource } from "../../../../src/adapters/graph/in-process/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { nodeOf, picture } from "./support.ts";

function setUp(target: MessageTarget, name = "jobs") {
  const flow = integrationGraph({ app: "shop" });
  const adapter = messageChannelSource(target, { name });
  const detach = flow.attach(adapter);
  return { flow, graph: flow.graph, adapter, detach, picture: () => picture(flow.graph) };
}

type Port = MessagePort & { onmessage: ((this: unknown, event: { readonly data: unknown }) => void) | null };

function ports() {
  const { port1, port2 } = new MessageChannel() as { port1: Port; port2: Port };
  onTestFinished(() => port1.close());
  return { port1, port2 };
}

function worker(code: string): Worker {
  const made = new Worker(`const { parentPort } = require("node:worker_threads"); ${code}`, { eval: true });
  onTestFinished(async () => {
    await made.terminate();
  });
  return made;
}

describe("a MessageChannel", () => {
  test("is drawn whole, with a way for each direction", async () => {
    const { port1, port2 } = ports();
    const { picture, graph } = setUp({ port1, port2 });
    const done = Promise.withResolvers<unknown>();
    port2.on("message", function work(job: number) {
      if (job > 1) port2.postMessage(job * 2);
    });
    port1.onmessage = function collect({ data }) {
      done.resolve(data);
    };
    port1.addEventListener("message", () => {});
    expect(picture()).toEqual({
      nodes: {
        "message-channel jobs.port1": "0 ok, 0 failed",
        "message-channel jobs.port2": "0 ok, 0 failed",
        "listener jobs.port1.collect": "0 ok, 0 failed",
        "listener jobs.port1.listener": "0 ok, 0 failed",
        "listener jobs.port2.work": "0 ok, 0 failed",
      },
      links: {
        "message-channel jobs.port1 -input-> listener jobs.port1.collect": 0,
        "message-channel jobs.port1 -input-> listener jobs.port1.listener": 0,
        "message-channel jobs.port2 -input-> listener jobs.port2.work": 0,
      },
    });
    for (const job of [1, 2]) port1.postMessage(job);
    expect(() => port1.postMessage(() => {})).toThrow("could not be cloned");
    expect(await done.promise).toBe(4);
    expect(picture()).toEqual({
      nodes: {
        "message-channel jobs.port1": "1 ok, 0 failed",
        "message-channel jobs.port2": "2 ok, 1 failed",
        "listener jobs.port1.collect": "1 ok, 0 failed",
        "listener jobs.port1.listener": "1 ok, 0 failed",
        "listener jobs.port2.work": "2 ok, 0 failed",
        "gateway shop.producer": undefined,
      },
      links: {
        "gateway shop.producer -output-> message-channel jobs.port2": 3,
        "message-channel jobs.port2 -input-> listener jobs.port2.work": 2,
        "listener jobs.port2.work -output-> message-channel jobs.port1": 1,
        "message-channel jobs.port1 -input-> listener jobs.port1.collect": 1,
        "message-channel jobs.port1 -input-> listener jobs.port1.listener": 1,
      },
    });
    expect(nodeOf(graph, "message-channel jobs.port1").key).toBe("channel:node:shop:message-channel:jobs.port1");
  });

  test("calls its listeners as before: with an event or a message, once, until removed", async () => {
    const { port1, port2 } = ports();
    setUp({ port1, port2 });
    const calls: unknown[] = [];
    const gone = () => calls.push("gone");
    const object = {
      handleEvent(event: Event) {
        calls.push(["object", this === object, (event as MessageEvent).data]);
      },
    };
    const stopped = new AbortController();
    port2.addEventListener("message", (event) => calls.push(["event", (event as MessageEvent).data]));
    port2.on("message", (data) => calls.push(["message", data]));
    port2.once("message", (data) => calls.push(["once", data]));
    port2.addEventListener("message", object as never);
    port2.addEventListener("message", object as never);
    port2.addEventListener("message", gone, { signal: stopped.signal } as never);
    port2.on("message", gone);
    port2.off("message", gone);
    stopped.abort();
    port2.onmessage = () => calls.push("replaced");
    port2.onmessage = function read(event) {
      calls.push(["read", this === port2, event.data]);
    };
    expect(port2.onmessage?.name).toBe("read");
    port1.postMessage(1);
    port1.postMessage(2);
    while (calls.length < 9) await new Promise((resolve) => setImmediate(resolve));
    const each = (data: number) => [
      ["event", data],
      ["message", data],
      ...(data === 1 ? [["once", data]] : []),
      ["object", true, data],
      ["read", true, data],
    ];
    expect(calls).toEqual([...each(1), ...each(2)]);
  });

  test("fails where a listener fails", async () => {
    const { port1, port2 } = ports();
    const { picture } = setUp({ port1, port2 });
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const uncaught = new Promise((resolve) => process.once("uncaughtException", resolve));
    port2.on("message", function work() {
      throw new Error("no");
    });
    port1.postMessage(1);
    expect(await uncaught).toEqual(new Error("no"));
    for (const other of others) process.on("uncaughtException", other);
    expect(picture().nodes["listener jobs.port2.work"]).toBe("0 ok, 1 failed");
  });

  test("is left as it was", async () => {
    const { port1, port2 } = ports();
    const calls: string[] = [];
    port2.onmessage = function early() {
      calls.push("early");
    };
    const { onmessage } = port2;
    const own = [port1, port2].map((port) => Reflect.ownKeys(port));
    const { detach, picture } = setUp({ port1, port2 });
    const single = () => calls.push("single");
    const handle = () => calls.push("handle");
    const gone = () => calls.push("gone");
    const over = Promise.withResolvers<void>();
    port2.on("message", gone);
    port2.off("message", gone);
    port2.once("message", () => over.resolve());
    port1.postMessage(0);
    await over.promise;
    calls.length = 0;
    port2.once("message", single);
    port2.on("message", handle);
    expect(picture().nodes["listener jobs.port2.early"]).toBe("1 ok, 0 failed");
    detach();
    expect([port1, port2].map((port) => Reflect.ownKeys(port))).toEqual(own);
    expect(port2.onmessage).toBe(onmessage);
    expect(getEventListeners(port2, "message").slice(1)).toEqual([single, handle]);
    expect(port2.hasRef()).toBe(true);
    expect(picture()).toEqual({ nodes: {}, links: {} });
    port1.postMessage(1);
    await once(port2, "message");
    port2.off("message", handle);
    port1.postMessage(2);
    await once(port2, "message");
    expect(calls).toEqual(["early", "single", "handle", "early"]);
  });

  test("is not started by being watched", () => {
    const { port1, port2 } = ports();
    setUp({ port1, port2 });
    expect([port1.hasRef(), port2.hasRef()]).toEqual([false, false]);
  });
});

describe("a worker", () => {
  const echo = 'parentPort.on("message", (job) => parentPort.postMessage(job));';

  test("is drawn whole", async () => {
    const jobs = worker(echo);
    jobs.on("message", function early() {});
    const { picture, adapter, detach } = setUp(jobs);
    const pool = adapter.watch(worker(echo));
    const collect = () => {};
    for (const one of [jobs, pool]) {
      one.on("message", collect);
      const answered = once(one, "message");
      one.postMessage("job");
      expect(await answered).toEqual(["job"]);
    }
    expect(picture()).toEqual({
      nodes: {
        "message-channel jobs.worker": "2 ok, 0 failed",
        "message-channel jobs.parent": "0 ok, 0 failed",
        "listener jobs.parent.early": "1 ok, 0 failed",
        "listener jobs.parent.collect": "2 ok, 0 failed",
        // Of Node's `once`, which the test waits with.
        "listener jobs.parent.resolver": "2 ok, 0 failed",
        "gateway shop.producer": undefined,
      },
      links: {
        "gateway shop.producer -output-> message-channel jobs.worker": 2,
        "message-channel jobs.parent -input-> listener jobs.parent.early": 1,
        "message-channel jobs.parent -input-> listener jobs.parent.collect": 2,
        "message-channel jobs.parent -input-> listener jobs.parent.resolver": 2,
      },
    });
    detach();
    expect(pool.rawListeners("message")).toEqual([collect]);
    expect(Reflect.ownKeys(jobs)).not.toContain("postMessage");
    pool.off("message", collect);
    expect(pool.listenerCount("message")).toBe(0);
  });
});

test("a BroadcastChannel is one channel, whoever speaks", async () => {
  const [one, two] = [new BroadcastChannel("news"), new BroadcastChannel("news")];
  onTestFinished(() => {
    for (const channel of [one, two]) channel.close();
  });
  const { picture, adapter, graph } = setUp(one as MessageTarget, "news");
  adapter.watch(two as MessageTarget);
  const heard = new Promise<void>((resolve) => {
    two.onmessage = function hear() {
      resolve();
    };
  });
  one.postMessage("news");
  await heard;
  expect(picture()).toEqual({
    nodes: {
      "broadcast-channel news": "1 ok, 0 failed",
      "listener news.hear": "1 ok, 0 failed",
      "gateway shop.producer": undefined,
    },
    links: {
      "gateway shop.producer -output-> broadcast-channel news": 1,
      "broadcast-channel news -input-> listener news.hear": 1,
    },
  });
  expect(nodeOf(graph, "broadcast-channel news").integrationPatternType).toBe("publish_subscribe_channel");
});

test("a port alone knows two directions", async () => {
  const { port1, port2 } = ports();
  const { picture } = setUp(port1);
  const answered = new Promise((resolve) => {
    port1.onmessage = function read({ data }) {
      resolve(data);
    };
  });
  port2.on("message", (data) => port2.postMessage(data));
  port1.postMessage(1);
  expect(await answered).toBe(1);
  expect(picture().nodes).toEqual({
    "message-channel jobs.sent": "1 ok, 0 failed",
    "message-channel jobs.received": "0 ok, 0 failed",
    "listener jobs.received.read": "1 ok, 0 failed",
    "gateway shop.producer": undefined,
  });
});

test("a target is refused that is none, or watched already", () => {
  expect(() => messageChannelSource({} as MessageTarget, { name: "jobs" })).toThrow(ActuatorError);
  const { port1, port2 } = ports();
  const { flow, adapter } = setUp(port1);
  expect(() => adapter.watch(port1)).toThrow("this end of a channel is watched already");
  const own = Reflect.ownKeys(port2);
  expect(() => flow.attach(messageChannelSource([port2, port1], { name: "other" }))).toThrow(ActuatorError);
  expect(Reflect.ownKeys(port2)).toEqual(own);
});
