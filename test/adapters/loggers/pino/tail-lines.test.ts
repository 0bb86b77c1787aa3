import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DestinationStream, Logger, LoggerOptions } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { type Heard, hear, type Wanted } from "../../../support/heard.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

/** What an application configures and logs, and where its lines have what. */
interface Case {
  readonly options: LoggerOptions;
  readonly calls: (root: Logger<string>) => void;
  /** The keys of level and time. Default: level, time. */
  readonly headKeys?: readonly string[];
  readonly messageKey?: string;
  readonly errors?: readonly string[];
  /** What the fields must not contain. */
  readonly secret?: string;
}

class Failure extends Error {
  readonly code = "E_FAILED";
}
Object.defineProperty(Failure.prototype, "name", { value: "Failure" });

const CASES: Readonly<Record<string, Case>> = {
  "as pino comes": {
    options: {},
    calls: (root) => {
      root.info("plain %s", "text");
      root.info({ nested: { list: [1, "two"], 'odd "key"': null } }, 'quoted "text"\nof two lines');
      root.warn({ only: "fields" });
      root.info(null as unknown as string);
      root.child({ module: "a", undefined: undefined }).child({ reqId: 1 }).fatal("deep");
    },
  },
  "redaction, also a child's": {
    options: { redact: ["password", "card.*"] },
    calls: (root) => {
      root.info({ password: "secret", card: { number: "secret" } }, "of the root");
      root.child({ a: 1 }, { redact: { paths: ["token"], remove: true } }).info({ token: "secret" }, "of a child");
      root.child({ password: "secret" }).info("bound");
    },
    secret: "secret",
  },
  formatters: {
    options: {
      formatters: {
        level: (label, value) => ({ severity: label.toUpperCase(), rank: value }),
        bindings: ({ pid }) => ({ process: pid }),
        log: (object) => ({ ...object, formatted: true }),
      },
    },
    calls: (root) => {
      root.warn({ level: "mine" }, "x");
      root.child({ id: 1 }).info("y");
    },
    headKeys: ["severity", "rank", "time"],
  },
  "custom levels alone": {
    options: { customLevels: { low: 1, mid: 2, high: 3 }, useOnlyCustomLevels: true, level: "low" },
    calls: (root) => {
      const custom = root as unknown as Record<"low" | "mid" | "high", (text: string) => void>;
      for (const label of ["low", "mid", "high"] as const) custom[label](label);
    },
  },
  "mixin and logMethod": {
    options: {
      mixin: (_object, level) => ({ mixed: level }),
      hooks: {
        logMethod(values, method) {
          method.apply(this, ["hooked", ...values.slice(1)] as never);
        },
      },
    },
    calls: (root) => root.info("x"),
  },
  "keys of its own": {
    options: { messageKey: "text", errorKey: "failure", nestedKey: "payload", base: { text: "bound", failure: "no" } },
    calls: (root) => {
      root.error(new Failure("one"));
      root.error({ failure: new TypeError("two"), order: 7 }, "text of two");
      root.info({ text: "no message" }, "three");
    },
    messageKey: "text",
    errors: ["Failure: one", "TypeError: two"],
  },
  errors: {
    options: {},
    calls: (root) => {
      root.error(new Failure("one", { cause: new Error("its cause") }));
      root.error({ err: new RangeError("two"), order: 7 }, "text of two");
      root.error({ err: "only a text" }, "three");
      root.error({ err: { message: "no error" } }, "four");
    },
    errors: ["Failure: one: its cause", "RangeError: two", "Object: no error"],
  },
  "an error serializer of its own": {
    options: { serializers: { err: (error: Error) => error.message.toUpperCase() } },
    calls: (root) => root.error(new Error("one")),
  },
  "no time and no bindings, with CRLF": {
    options: { timestamp: false, base: null, crlf: true },
    calls: (root) => {
      root.info("x");
      root.info({ time: "mine" });
      root.info(undefined as unknown as string);
    },
    headKeys: ["level"],
  },
  "ISO time": {
    options: { timestamp: () => `,"at":"${new Date(0).toISOString()}"` },
    calls: (root) => root.info({ at: 5 }, "x"),
    headKeys: ["level", "at"],
  },
  "a message of another type": {
    options: { serializers: { msg: (message: string) => ({ message }) } },
    calls: (root) => root.info("x"),
  },
};

async function ended(transport: DestinationStream & { end(): void } & NodeJS.EventEmitter): Promise<void> {
  transport.end();
  await once(transport, "close");
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each(PINO_VERSIONS)("what pino %s wrote is what is read", (version, pino) => {
  function listening(options: LoggerOptions, destination: DestinationStream, wanted?: Wanted) {
    const root = pino({ safe: false, ...options } as LoggerOptions, destination) as unknown as Logger<string>;
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    return { root, ...hear(loggers, wanted) };
  }

  /** Expects that each record says what its line does, no more and no less. */
  function expectSame(
    lines: readonly string[],
    heard: readonly Heard[],
    { messageKey = "msg", headKeys }: Partial<Case> = {},
  ) {
    expect(heard).toHaveLength(lines.length);
    for (const [index, { message, fields, error }] of heard.entries()) {
      const line = lines[index]!;
      const { [messageKey]: said, ...others } = JSON.parse(line) as Record<string, unknown>;
      if (said !== undefined) expect(typeof said === "string" ? said : JSON.stringify(said)).toBe(message);
      else expect(message).toBe("");
      for (const key of headKeys ?? ["level", "time"]) {
        // One of the application's with the same key comes later in the line.
        if (line.indexOf(`"${key}":`) === line.lastIndexOf(`"${key}":`)) delete others[key];
      }
      if (error === undefined) expect(fields).toEqual(others);
      else expect(JSON.stringify(others)).toContain(JSON.stringify(error).slice(1, -1));
    }
  }

  test.each(Object.entries(CASES))("%s", (_, { options, calls, errors = [], secret, ...keys }) => {
    const lines: string[] = [];
    const { root, heard } = listening(options, { write: (line) => void lines.push(line) });
    calls(root);
    const records = heard();
    expectSame(lines, records, keys);
    expect(records.flatMap(({ error }) => (error ? `${error.type}: ${error.message}` : []))).toEqual(errors);
    if (secret !== undefined) expect(JSON.stringify(records)).not.toContain(secret);
  });

  test("an error is taken out of the fields, and what only it has stays", () => {
    const { root, heard } = listening({ base: null }, { write: () => undefined });
    root.error({ err: new Failure("one"), order: 7 }, "text");
    root.error(new Error("two"));
    const [one, two] = heard();
    expect(one).toMatchObject({ message: "text", error: { type: "Failure", message: "one" } });
    expect(one!.error!.stack).toMatch(/one\n +at /);
    expect(one!.fields).toEqual({ order: 7, err: { code: "E_FAILED" } });
    expect(two!.fields).toEqual({});
  });

  test("through a multistream, once, whatever its streams filter", () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    const streams = pino.multistream([
      { level: "info", stream },
      { level: "error", stream: { write: () => undefined } },
    ]);
    const { root, heard } = listening({ level: "debug" }, streams, { hidden: "TRACE" });
    root.debug("for no stream");
    root.trace("dropped");
    root.info("one");
    root.error("two");
    const records = heard();
    expect(records.map(({ message, hidden }) => [message, hidden])).toEqual([
      ["for no stream", false],
      ["dropped", true],
      ["one", false],
      ["two", false],
    ]);
    expectSame(lines, records.slice(2));
  });

  test("by a synchronous destination and by a worker", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pino-tail-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const [direct, worked] = ["direct.log", "worked.log"].map((name) => join(folder, name));
    const transport = pino.transport({ target: "pino/file", options: { destination: worked } });
    await once(transport, "ready");
    for (const [file, destination, end] of [
      [direct!, pino.destination({ dest: direct!, sync: true }), undefined],
      [worked!, transport, () => ended(transport)],
    ] as const) {
      const { root, heard, stop } = listening({}, destination, { hidden: "DEBUG" });
      root.info({ a: 1 }, "one");
      root.debug("dropped");
      root.error(new Error("two"));
      root.fatal("three");
      await end?.();
      const records = heard();
      expect(records.filter(({ hidden }) => hidden).map(({ message }) => message)).toEqual(["dropped"]);
      const written = readFileSync(file, "utf8").split(/(?<=\n)/);
      expectSame(
        written,
        records.filter(({ hidden }) => !hidden),
      );
      stop();
    }
  });

  // pino 8 has no such hook.
  describe.each(version === "8" ? [] : ["hooks.streamWrite"])("after %s", () => {
    const hooked = (streamWrite: (line: string) => string, wanted?: Wanted) => {
      const lines: string[] = [];
      return { lines, ...listening({ hooks: { streamWrite } }, { write: (line) => void lines.push(line) }, wanted) };
    };

    test("that redacts", () => {
      const { lines, root, heard } = hooked((line) => line.replaceAll("4711", "[card]"), { hidden: "DEBUG" });
      root.info({ card: "4711" }, "card 4711");
      root.debug("hidden 4711");
      const [written, hidden] = heard();
      expectSame(lines, [written!]);
      expect(written).toMatchObject({ message: "card [card]", fields: { card: "[card]" } });
      expect(hidden).toMatchObject({ message: "hidden [card]", hidden: true });
    });

    test("that makes another object, or none", () => {
      const object = hooked((line) => `${JSON.stringify({ v: 1, ...(JSON.parse(line) as object) })}\n`);
      object.root.info({ a: 1 }, "x");
      expectSame(object.lines, object.heard());
      for (const line of ["INFO plain text\n", "[1,2]\n", "null\n", '{"not":"JSON\n']) {
        const text = hooked(() => line);
        text.root.info({ a: 1 }, "x");
        expect(text.heard()).toMatchObject([{ message: line.trimEnd(), fields: {}, level: "INFO" }]);
        expect(text.lines).toEqual([line]);
      }
    });

    test("that throws: the application gets its error, and no line is heard", () => {
      const failing = hooked(
        () => {
          throw new Error("hook");
        },
        { hidden: "DEBUG" },
      );
      expect(() => failing.root.info("x")).toThrow("hook");
      expect(failing.heard()).toEqual([]);
    });
  });
});
