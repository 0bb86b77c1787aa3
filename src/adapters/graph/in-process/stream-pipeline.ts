import { errorMonitor } from "node:events";
import { described } from "../../../common/described.ts";
import { ActuatorError } from "../../../common/error.ts";
import { checkOptions, listOf, text } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import {
  type Method,
  replaceMethod,
  type TimedCall,
  timedCall,
  undoing,
} from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";
import { WatchedObjects, watchingAdapter } from "../../kit/messaging/watching-adapter.ts";
import { EXAMPLE, type InProcessAdapter, type InProcessOptions, nameIn } from "./options.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of all streams of Node.js.
type Any = any;

/** A stream of Node.js. */
export interface PipelineStream {
  on(event: Any, listener: (...args: Any[]) => void): Any;
  removeListener(event: Any, listener: (...args: Any[]) => void): Any;
  destroy(error?: Any): Any;
}

/** The streams of one run, in their order, as they are passed to `pipeline`. */
export type PipelineStreams = readonly PipelineStream[];

/** Options of {@link streamPipelineSource}. */
export interface StreamPipelineOptions extends InProcessOptions {
  /** The names of the stages, in their order; by default the names of their classes. */
  readonly stages?: readonly string[] | undefined;
}

const watched = new WatchedObjects("stream", { parts: (streams: PipelineStreams) => streams });

/**
 * Shows a pipeline of streams of Node.js, stage by stage.
 *
 * - The first stage is an inbound channel adapter, those between are transformers, the last one an outbound channel adapter, or a
 *   transformer if it can be read. Before each stage there is a channel, `import.Gunzip.input`.
 * - Chunks, or objects, are counted: those that the source reads, those that are written to each stage, and how each stage
 *   handled them, from receiving a chunk to asking for the next one. What a stage sends meanwhile is sent by its node.
 * - The streams' own methods are measured, without a listener for data, so streams start and wait as before. An error counts at
 *   the stage where it began.
 * - Streams that are closed are forgotten, and their nodes stay. Functions and iterables are not streams.
 *
 * @example
 * ```ts
 * const imports = streamPipelineSource([], { name: "import" });
 * flow.attach(imports);
 * await pipeline(imports.watch([file, gunzip, parse, table])); // for each run
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if there are fewer than two streams, or one is not a stream of Node.js.
 */
export function streamPipelineSource(
  streams: PipelineStreams,
  options: StreamPipelineOptions,
): InProcessAdapter<PipelineStreams> {
  checkOptions("streamPipelineSource", options, { name: text, stages: listOf(text) }, EXAMPLE);
  const name = nameIn(options, "streamPipelineSource");
  return watchingAdapter<PipelineStreams>({
    name: "in-process",
    source: "streamPipelineSource",
    expected: "at least two streams in an array",
    accepts: areStreams,
    targets: streams.length === 0 ? [] : [streams],
    watched,
    begin(host, runs) {
      const stages = new PipelineStages(host, name, options.stages);
      return {
        watch(streams) {
          // Every stage that is destroyed because of the error of another one reports the same error.
          let failure: unknown;
          const isNew = (error: unknown) => {
            if (failure !== undefined) return false;
            failure = error ?? new Error("unknown");
            return true;
          };
          const open = new Set(streams);
          return undoing(
            stages.of(streams).map((stage, at) =>
              watchStage(streams[at]!, host, stage, isNew, () => {
                open.delete(streams[at]!);
                if (open.size === 0) runs.remove(streams);
              }),
            ),
          );
        },
      };
    },
  });
}

function areStreams(streams: unknown): boolean {
  if (!Array.isArray(streams) || streams.length < 2) return false;
  for (const [at, stream] of streams.entries()) {
    const needed = at === 0 ? ["push", "read", "destroy"] : ["write", "_write", "destroy"];
    if (hasMethods(stream, "on", ...needed)) continue;
    const message = `streamPipelineSource() expects streams of Node.js; stream ${at + 1} is ${described(stream)}, which cannot be ${at === 0 ? "read" : "written"}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_TARGET", message);
  }
  return true;
}

/** Measures what a stream does as a stage of a pipeline, until `closed`. `isNew` says whether an error began here. */
function watchStage(
  stream: PipelineStream,
  host: GraphHost,
  stage: Stage,
  isNew: (error: unknown) => boolean,
  closed: () => void,
): () => void {
  const onError = (error: unknown) => {
    if (!isNew(error)) return;
    const now = performance.now();
    const outcome = { start: now, end: now, failed: true };
    if (stage.source === undefined) host.received(stage.node, outcome);
    else host.handled(stage.node, outcome);
  };
  // Observes an error without handling it.
  stream.on(errorMonitor, onError);
  // The streams of the process itself stay open.
  const last = Reflect.get(stream, "_isStdio") === true ? "unpipe" : "close";
  stream.on(last, closed);
  return undoing([
    ...(stage.source === undefined ? [giving(stream, host, stage)] : taking(stream, host, stage, isNew)),
    () => stream.removeListener(errorMonitor, onError),
    () => stream.removeListener(last, closed),
  ]);
}

/** A source counts what it puts into its buffer. */
function giving(stream: PipelineStream, host: GraphHost, { node }: Stage): () => void {
  return replaceMethod(
    stream,
    "push",
    (method) =>
      function push(this: unknown, ...args) {
        if (isChunk(args[0])) {
          const now = performance.now();
          host.received(node, { start: now, end: now });
        }
        return Reflect.apply(method, this, args);
      },
  );
}

/** Any other stage counts what is written to it, and how it handles that. */
function taking(
  stream: PipelineStream,
  host: GraphHost,
  { node, source }: Stage,
  isNew: (error: unknown) => boolean,
): (() => void)[] {
  const { from, channel, link } = source!;
  const written = (call: TimedCall) => host.sent(channel, call, from);
  const writing = (method: Method): Method =>
    function write(this: unknown, ...args) {
      return timedCall(method, this, args, written);
    };
  /** A method that takes chunks and calls back, its last argument, when it wants more. */
  const handling =
    (count: (chunks: unknown) => number) =>
    (method: Method): Method =>
      function (this: unknown, ...args) {
        const callback = args.at(-1) as Method;
        const chunks = count(args[0]);
        const start = performance.now();
        let told = false;
        const done = (failed: boolean) => {
          if (told) return;
          told = true;
          host.handled(node, { start, end: performance.now(), failed, count: chunks }, link);
        };
        args[args.length - 1] = function (this: unknown, ...results: unknown[]) {
          // The error that follows is this one.
          if (results[0]) isNew(results[0]);
          done(Boolean(results[0]));
          return Reflect.apply(callback, this, results);
        };
        try {
          return host.within(node, () => Reflect.apply(method, this, args));
        } catch (error) {
          isNew(error);
          done(true);
          throw error;
        }
      };
  // Compression writes nothing to itself, to end.
  const one = handling((chunk) => (chunk instanceof Uint8Array && chunk.length === 0 ? 0 : 1));
  if (hasMethods(stream, "_transform")) {
    return [replaceMethod(stream, "write", writing), replaceMethod(stream, "_transform", one)];
  }
  const several = handling((chunks) => (Array.isArray(chunks) ? chunks.length : 1));
  return [
    replaceMethod(stream, "write", writing),
    replaceMethod(stream, "_write", one),
    replaceMethod(stream, "_writev", several),
  ];
}

/** The end of a stream is no chunk. */
function isChunk(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** A stage of a pipeline, as nodes of the graph. */
interface Stage {
  readonly node: GraphNode;
  /** The stage that writes to it, the channel that leads here, and the link from that; undefined for the first stage. */
  readonly source:
    | { readonly from: GraphNode; readonly channel: GraphNode; readonly link: GraphLink | undefined }
    | undefined;
}

/** The stages of all runs of a pipeline. */
class PipelineStages {
  readonly #host: GraphHost;
  readonly #name: string;
  readonly #names: readonly string[] | undefined;

  constructor(host: GraphHost, name: string, names: readonly string[] | undefined) {
    this.#host = host;
    this.#name = name;
    this.#names = names;
  }

  of(streams: readonly object[]): readonly Stage[] {
    const taken = new Set<string>();
    const stages: Stage[] = [];
    for (const [at, stream] of streams.entries()) {
      const own = this.#names?.[at] ?? (stream.constructor?.name || "Stream");
      let name = own;
      for (let count = 2; taken.has(name); count++) name = `${own}-${count}`;
      taken.add(name);
      stages.push(this.#stage(`${this.#name}.${name}`, patternOf(streams, at), stages.at(-1)?.node));
    }
    return stages;
  }

  #stage(name: string, pattern: EndpointPattern, from: GraphNode | undefined): Stage {
    const key = endpointKey(this.#host.app, pattern, name);
    const node = this.#host.declare({ name, pattern, componentType: "node:stream", key });
    if (from === undefined) return { node, source: undefined };
    const channelName = `${name}.input`;
    const channel = this.#host.declare({
      name: channelName,
      pattern: "message_channel",
      componentType: "node:stream-buffer",
      key: channelKey(SYSTEM, this.#host.app, "stream", channelName),
    });
    this.#host.link(from, "output", channel);
    return { node, source: { from, channel, link: this.#host.link(channel, "input", node) } };
  }
}

function patternOf(streams: readonly object[], at: number): EndpointPattern {
  if (at === 0) return "inbound_channel_adapter";
  return at < streams.length - 1 || hasMethods(streams[at], "_transform") ? "transformer" : "outbound_channel_adapter";
}
