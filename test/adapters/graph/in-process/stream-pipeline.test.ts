import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  eventEmitterSource,
  type PipelineStreams,
  streamPipelineSource,
} from "../../../../src/adapters/graph/in-process/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { nodeOf, picture } from "./support.ts";

function setUp(options: { readonly stages?: readonly string[] } = {}) {
  const flow = integrationGraph({ app: "shop" });
  const imports = streamPipelineSource([], { name: "import", ...options });
  const detach = flow.attach(imports);
  return { flow, imports, detach, picture: () => picture(flow.graph) };
}

const numbers = (count: number) => Readable.from(Array.from({ length: count }, (_, index) => index + 1));

class Double extends Transform {
  constructor() {
    super({ objectMode: true });
  }

  override _transform(value: number, _encoding: string, done: (error?: Error | null, value?: number) => void) {
    if (value === 4) done(new Error("four"));
    else done(null, value * 2);
  }
}

class Table extends Writable {
  readonly rows: number[] = [];

  constructor() {
    super({ objectMode: true });
  }

  override _write(value: number, _encoding: string, done: (error?: Error | null) => void) {
    this.rows.push(value);
    setImmediate(done);
  }
}

describe("a pipeline", () => {
  test("is drawn whole, before it runs and after two runs", async () => {
    const { imports, picture, flow } = setUp();
    const table = new Table();
    const first = imports.watch([numbers(3), new Double(), table] as const);
    const idle = {
      nodes: {
        "stream import.Readable": "0 received, 0 failed",
        "stream import.Double": "0 ok, 0 failed",
        "stream import.Table": "0 ok, 0 failed",
        "stream-buffer import.Double.input": "0 ok, 0 failed",
        "stream-buffer import.Table.input": "0 ok, 0 failed",
      },
      links: {
        "stream import.Readable -output-> stream-buffer import.Double.input": 0,
        "stream-buffer import.Double.input -input-> stream import.Double": 0,
        "stream import.Double -output-> stream-buffer import.Table.input": 0,
        "stream-buffer import.Table.input -input-> stream import.Table": 0,
      },
    };
    expect(picture()).toEqual(idle);
    // It flows when the application lets it.
    await new Promise((resolve) => setImmediate(resolve));
    expect(picture()).toEqual(idle);
    await pipeline(first);
    await pipeline(imports.watch([numbers(2), new Double(), new Table()]));
    expect(table.rows).toEqual([2, 4, 6]);
    expect(picture()).toEqual({
      nodes: {
        "stream import.Readable": "5 received, 0 failed",
        "stream import.Double": "5 ok, 0 failed",
        "stream import.Table": "5 ok, 0 failed",
        "stream-buffer import.Double.input": "5 ok, 0 failed",
        "stream-buffer import.Table.input": "5 ok, 0 failed",
      },
      links: Object.fromEntries(Object.keys(idle.links).map((link) => [link, 5])),
    });
    expect(
      flow.graph
        .snapshot()
        .nodes.map(({ integrationPatternType }) => integrationPatternType)
        .sort(),
    ).toEqual([
      "inbound_channel_adapter",
      "message_channel",
      "message_channel",
      "outbound_channel_adapter",
      "transformer",
    ]);
    expect(nodeOf(flow.graph, "stream-buffer import.Table.input").key).toBe(
      "channel:node:shop:stream:import.Table.input",
    );
  });

  test.each([
    ["in the source", () => [failingSource(), new Double(), new Table()], "source 1 received, 1 failed"],
    ["in a transformer", () => [numbers(4), new Double(), new Table()], "double 3 ok, 1 failed"],
    ["in the sink", () => [numbers(1), new Double(), new Failing()], "sink 0 ok, 1 failed"],
    ["of a stream that is destroyed", () => [numbers(1), new Double(), new Ending()], "sink 1 ok, 1 failed"],
  ] as readonly (readonly [string, () => PipelineStreams, string])[])(
    "counts an error once, %s",
    async (_, make, expected) => {
      const { imports, picture } = setUp({ stages: ["source", "double", "sink"] });
      await expect(pipeline(imports.watch(make()) as never)).rejects.toThrow(/no|four/);
      const counted = Object.entries(picture().nodes).map(([name, numbers]) => `${name} ${numbers}`);
      expect(counted.filter((text) => !text.endsWith(" 0 failed"))).toEqual([`stream import.${expected}`]);
    },
  );

  test("of files and compression counts chunks, and passes every byte", async () => {
    const folder = mkdtempSync(join(tmpdir(), "connect-actuator-pipeline-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    const text = Array.from({ length: 50_000 }, (_, line) => `line ${line}`).join("\n");
    writeFileSync(from, gzipSync(text));
    const { imports, picture } = setUp();
    const file = createReadStream(from, { highWaterMark: 1_024 });
    let chunks = 0;
    const count = new PassThrough().on("newListener", () => {});
    const write = count.write;
    count.write = function (this: PassThrough, ...args: unknown[]) {
      chunks++;
      return Reflect.apply(write, this, args);
    } as typeof write;
    await pipeline(imports.watch([file, createGunzip(), count, createWriteStream(to)]));
    expect(readFileSync(to, "utf8")).toBe(text);
    const { nodes, links } = picture();
    const read = Math.ceil(readFileSync(from).length / 1_024);
    expect(nodes).toEqual({
      "stream import.ReadStream": `${read} received, 0 failed`,
      "stream import.Gunzip": `${read} ok, 0 failed`,
      "stream import.PassThrough": `${chunks} ok, 0 failed`,
      "stream import.WriteStream": `${chunks} ok, 0 failed`,
      "stream-buffer import.Gunzip.input": `${read} ok, 0 failed`,
      "stream-buffer import.PassThrough.input": `${chunks} ok, 0 failed`,
      "stream-buffer import.WriteStream.input": `${chunks} ok, 0 failed`,
    });
    expect(links["stream-buffer import.WriteStream.input -input-> stream import.WriteStream"]).toBe(chunks);
  });

  test("keeps its backpressure", async () => {
    const { imports } = setUp();
    let made = 0;
    const source = new Readable({
      objectMode: true,
      highWaterMark: 2,
      read() {
        this.push(made++);
      },
    });
    const sink = new Writable({ objectMode: true, highWaterMark: 2, write: () => {} });
    const run = pipeline(imports.watch([source, sink])).catch(() => {});
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(sink.writableLength).toBe(2);
    expect(made).toBeLessThanOrEqual(5);
    sink.destroy();
    await run;
  });

  test("is who sends what a stage sends", async () => {
    const { imports, picture, flow } = setUp();
    const bus = new PassThrough();
    flow.attach(eventEmitterSource(bus, { name: "bus" }));
    const tell = new Transform({
      objectMode: true,
      transform(value, _, done) {
        setImmediate(() => {
          bus.emit("row", value);
          done();
        });
      },
    });
    await pipeline(imports.watch([numbers(2), tell, new Table()]));
    expect(picture().links["stream import.Transform -output-> emitter-event bus.row"]).toBe(2);
  });

  test("has different names for stages of one class, or those that the application gives", () => {
    const { imports, picture } = setUp();
    imports.watch([numbers(1), new PassThrough(), new PassThrough(), new PassThrough()]);
    expect(Object.keys(picture().nodes)).toEqual(
      expect.arrayContaining(["PassThrough", "PassThrough-2", "PassThrough-3"].map((name) => `stream import.${name}`)),
    );
  });
});

describe("streams", () => {
  const shape = (stream: object) => [
    Reflect.ownKeys(stream).filter((key) => key !== "_eventsCount"),
    ["data", "error", "readable", "close"].map((event) => (stream as PassThrough).listenerCount(event)),
  ];

  test("are left as they were when they are detached", () => {
    const streams = [numbers(1), new Double(), new Table()];
    const before = streams.map(shape);
    const { imports, detach, picture } = setUp();
    imports.watch(streams);
    expect(() => imports.watch(streams)).toThrow("this stream is watched already");
    detach();
    expect(streams.map(shape)).toEqual(before);
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });

  test("are forgotten when they are closed", async () => {
    const streams = [numbers(1), new Double(), new Table()];
    const { imports } = setUp();
    await pipeline(imports.watch(streams));
    await new Promise((resolve) => setImmediate(resolve));
    for (const stream of streams) {
      for (const name of ["write", "push", "_write", "_transform"]) {
        expect(Object.getOwnPropertyDescriptor(stream, name)?.enumerable, name).not.toBe(false);
      }
    }
  });

  test.each([
    ["one alone", () => [numbers(1)]],
    ["a function", () => [numbers(1), async function* () {}, new Table()]],
    ["one that cannot be written", () => [numbers(1), numbers(1)]],
    ["one that cannot be read first", () => [new Table(), new Table()]],
  ] as readonly (readonly [string, () => unknown])[])("are refused: %s", (_, make) => {
    expect(() => setUp().imports.watch(make() as PipelineStreams)).toThrow(ActuatorError);
  });
});

function failingSource(): Readable {
  let value = 0;
  return new Readable({
    objectMode: true,
    read() {
      if (value++ === 0) this.push(1);
      else setImmediate(() => this.destroy(new Error("no")));
    },
  });
}

class Failing extends Writable {
  constructor() {
    super({ objectMode: true });
  }

  override _write(_value: number, _encoding: string, done: (error: Error) => void): void {
    done(new Error("no"));
  }
}

class Ending extends Writable {
  constructor() {
    super({ objectMode: true });
  }

  override _write(_value: number, _encoding: string, done: () => void): void {
    done();
    this.destroy(new Error("no"));
  }
}
