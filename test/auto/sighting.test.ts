import { expect, test, vi } from "vitest";
import { beforeFirstCall, onAssigned, onSight, replaceInPlace } from "../../src/auto/sighting.ts";

const KEY = Symbol("key");
const findings = { carefully: (see: () => void) => see() };

class Queue {
  readonly calls: unknown[] = [];
  add(job: unknown): number {
    return this.calls.push(job);
  }
  [KEY](job: unknown): number {
    return this.calls.push(job);
  }
}

/** What an adapter does with an object that it watches. */
function double(queue: object): void {
  const { add } = queue as Queue;
  Object.defineProperty(queue, "add", {
    configurable: true,
    value: (job: unknown) => [add.call(queue as Queue, job), "watched"],
  });
}

test("an object is seen once, by any of several methods, under names or symbols", () => {
  const seen: [object, readonly unknown[]][] = [];
  const undo = onSight(Queue.prototype, ["add", KEY], findings, (...sight) => seen.push(sight));
  const [queue, other] = [new Queue(), new Queue()];
  queue[KEY](1);
  queue.add(2);
  other.add(3);
  undo();
  new Queue().add(4);
  expect(seen).toEqual([
    [queue, [1]],
    [other, [3]],
  ]);
});

test("the method that replaces it is called at once, unless other code is around the method", () => {
  class Own extends Queue {
    runs = 0;
    override add(job: unknown): number {
      this.runs++;
      return super.add(job);
    }
  }
  const undo = onSight(Queue.prototype, "add", findings, double, { again: true });
  expect(new Queue().add(1)).toEqual([1, "watched"]);
  const own = new Own();
  expect(own.add(1)).toBe(1);
  expect([own.runs, own.calls]).toEqual([1, [1]]);
  expect(own.add(2)).toEqual([2, "watched"]);
  undo();
});

test("what is thrown is thrown, and shows nothing that is seen after the call", () => {
  const seen: object[] = [];
  class Failing {
    open(): void {
      throw new Error("no");
    }
  }
  const undo = onSight(Failing.prototype, "open", findings, (each) => seen.push(each), { after: true });
  expect(() => new Failing().open()).toThrow("no");
  expect(() => Reflect.apply(Failing.prototype.open, undefined, [])).toThrow("no");
  expect(seen).toEqual([]);
  undo();
});

test("a method keeps its descriptor, its name and what else it has, and is given back exactly", () => {
  const add = Object.assign(Queue.prototype.add, { __original: true });
  const before = Object.getOwnPropertyDescriptor(Queue.prototype, "add");
  const undo = replaceInPlace(
    Queue.prototype,
    "add",
    (method) =>
      function (...args) {
        return method.apply(this, args);
      },
  );
  const { value, ...flags } = Object.getOwnPropertyDescriptor(Queue.prototype, "add")!;
  expect(value).not.toBe(add);
  expect([value.name, value.length, value.__original]).toEqual(["add", 1, true]);
  expect({ value: add, ...flags }).toEqual(before);
  undo();
  expect(Object.getOwnPropertyDescriptor(Queue.prototype, "add")).toEqual(before);
});

test("what other code has put over it stays, and calls the method alone", () => {
  const seen: object[] = [];
  class Client {
    send(): string {
      return "sent";
    }
  }
  const undo = onSight(Client.prototype, "send", findings, (each) => seen.push(each));
  const ours = Client.prototype.send;
  const theirs = function (this: Client): string {
    return `${ours.call(this)} by theirs`;
  };
  Client.prototype.send = theirs;
  undo();
  expect(Client.prototype.send).toBe(theirs);
  expect(new Client().send()).toBe("sent by theirs");
  expect(seen).toEqual([]);
});

test("getters, inherited methods and frozen objects are left alone", () => {
  const getter = {
    get send() {
      return () => {};
    },
  };
  const frozen = Object.freeze({ send() {} });
  const inheriting = Object.create({ send() {} });
  for (const object of [getter, frozen, inheriting]) {
    const before = Object.getOwnPropertyDescriptors(object);
    replaceInPlace(object, "send", () => () => "replaced")();
    onSight(object, "send", findings, () => {});
    expect(Object.getOwnPropertyDescriptors(object)).toEqual(before);
  }
});

test("an object that is assigned a property gets it as by the assignment", () => {
  const seen: object[] = [];
  const prototype = {};
  const undo = onAssigned(prototype, KEY, findings, (each) => seen.push(each));
  const object = Object.create(prototype);
  expect(object[KEY]).toBeUndefined();
  object[KEY] = 1;
  object[KEY] = 2;
  const value = { value: 2, writable: true, enumerable: true, configurable: true };
  expect(Object.getOwnPropertyDescriptor(object, KEY)).toEqual(value);
  expect(seen).toEqual([object]);
  undo();
  expect(Reflect.ownKeys(prototype)).toEqual([]);
});

test("code around a method that is awaited runs once for each call", () => {
  class Logger {
    readonly lines: string[] = [];
    log(line: string): void {
      this.lines.push(line);
    }
  }
  const see = vi.fn();
  beforeFirstCall([[Logger.prototype, "log"]], findings, see);
  const { log } = Logger.prototype;
  Logger.prototype.log = function (line) {
    log.call(this, `${line}!`);
  };
  const logger = new Logger();
  logger.log("one");
  logger.log("two");
  expect(logger.lines).toEqual(["one!", "two!"]);
  expect(see).toHaveBeenCalledOnce();
});
