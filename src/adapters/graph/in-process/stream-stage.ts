import { errorMonitor } from "node:events";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { type TimedCall, timedCall } from "../../kit/interception/timed-call.ts";
import type { Stage } from "./stream-stages.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of all streams of Node.js.
type Any = any;

/** A stream of Node.js. */
export interface PipelineStream {
  on(event: Any, listener: (...args: Any[]) => void): Any;
  removeListener(event: Any, listener: (...args: Any[]) => void): Any;
  destroy(error?: Any): Any;
}

/** Measures what a stream does as a stage of a pipeline, until `closed`. `isNew` says whether an error began here. */
export function watchStage(
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
  // Told of an error without handling it.
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

/** The source counts what it puts into its buffer. */
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

/** Any other stage counts what is written to it, and what it makes of that. */
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
