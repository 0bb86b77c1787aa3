import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import {
  expectedPauseMs,
  hasOwnMethods,
  objectsBelow,
  prototypeOf,
} from "../../../../src/adapters/kit/heap/heap-search.ts";

const KIT = new URL("../../../../src/adapters/kit/heap/heap-search.ts", import.meta.url).href;

class Emitter extends EventEmitter {}
class Channel extends Emitter {
  publish(): void {}
  consume(): void {}
}

test("all objects below a prototype are found, and none that is not used any more", () => {
  const kept = [new Channel(), new Channel(), new Emitter()];
  (() => new Channel())();
  expect(new Set(objectsBelow(Emitter.prototype))).toEqual(new Set([...kept, Channel.prototype]));
  expect(objectsBelow(EventEmitter.prototype)).toEqual(expect.arrayContaining(kept));
});

test("classes are found with the objects of other prototypes at once, which inherit as before afterwards", () => {
  class Apart {}
  const kept = [new Apart(), new Channel()];
  const found = new Set(objectsBelow(Function.prototype, Apart.prototype, EventEmitter.prototype));
  expect([...kept, Channel, Apart].map((each) => found.has(each))).toEqual([true, true, true, true]);
  expect(Object.getPrototypeOf(Apart.prototype)).toBe(Object.prototype);
  expect(Object.getPrototypeOf(EventEmitter.prototype)).toBe(Object.prototype);
});

test("a class is told by its methods, and nothing of it is called", () => {
  class Touchy {
    get publish(): unknown {
      throw new Error("read");
    }
    consume(): void {}
  }
  const guarded = new Proxy(class {}, {
    getOwnPropertyDescriptor: () => {
      throw new Error("asked");
    },
  });
  const isChannel = (made: object) => {
    const prototype = prototypeOf(made);
    return prototype !== undefined && hasOwnMethods(prototype, ["publish", "consume"]);
  };
  const others = [Emitter, Touchy, guarded, () => {}, {}, { prototype: Channel.prototype }];
  expect([Channel, ...others].map(isChannel)).toEqual([true, ...others.map(() => false)]);
});

test("nothing stays behind, however often it is done", () => {
  const symbols = Object.getOwnPropertySymbols(globalThis);
  const names = process.eventNames().map((name) => [name, process.listenerCount(name)]);
  class Held {}
  const held: Held[] = [new Held(), new Held()];
  for (let round = 0; round < 10; round++) expect(objectsBelow(Held.prototype)).toHaveLength(2);
  expect(Object.getOwnPropertySymbols(globalThis)).toEqual(symbols);
  expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(names);
  expect(process.getBuiltinModule("node:inspector").url()).toBeUndefined();
  held.length = 0;
  expect(objectsBelow(Held.prototype)).toEqual([]);
});

test("a worker searches its own heap", async () => {
  const worker = new Worker(
    `import { parentPort } from "node:worker_threads";
     import { objectsBelow } from ${JSON.stringify(KIT)};
     class Mine {}
     const mine = [new Mine()];
     parentPort.postMessage(objectsBelow(Mine.prototype).length + mine.length);`,
    { eval: true, execArgv: ["--input-type=module"] },
  );
  const found = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  expect(found).toBe(2);
});

test("it is refused where the inspector is not available, which is loaded for it alone", () => {
  const script = `
    const { objectsBelow } = await import(${JSON.stringify(KIT)});
    console.log(process.moduleLoadList.includes("NativeModule inspector"));
    process.getBuiltinModule = () => undefined;
    try { objectsBelow({}) } catch (error) { console.log(error.code, error.reason, error.message) }
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(stdout).toMatch(/^false\nFAILED_PRECONDITION NO_HEAP_SEARCH .*the inspector of Node\.js is not available/);
});

test("the pause is predicted by the size of the heap", () => {
  expect(expectedPauseMs(0)).toBe(50);
  expect(expectedPauseMs(200e6)).toBe(2 * expectedPauseMs(100e6));
});
