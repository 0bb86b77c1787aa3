import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Watch } from "../../../integration-graph/watching-adapter.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { undoing } from "../../kit/interception/replaced-method.ts";
import {
  type InProcessAdapter,
  type InProcessOptions,
  inProcessAdapter,
  WatchedObjects,
} from "../../kit/messaging/in-process-adapter.ts";
import { type PipelineStream, watchStage } from "./stream-stage.ts";
import { PipelineStages } from "./stream-stages.ts";

/** The streams of one run, in their order, as they are given to `pipeline`. */
export type PipelineStreams = readonly PipelineStream[];

/** How the stages of a pipeline are shown. */
export interface StreamPipelineOptions extends InProcessOptions {
  /** What the stages are called, in their order, where the names of their classes say too little. */
  readonly stages?: readonly string[] | undefined;
}

const watched = new WatchedObjects("stream");

/**
 * A pipeline of streams, stage by stage: `const imports = streamPipeline([], { name: "import" })`, then for each run
 * `await pipeline(imports.watch([file, gunzip, parse, table]))`.
 *
 * - The first stage is an inbound channel adapter, those between are transformers, the last one an outbound channel adapter, or a
 *   transformer where it can be read. Before each stage there is a channel, `import.Gunzip.input`.
 * - What is counted are chunks, or objects: those that the source gives, those that are written to each stage, and how each stage
 *   fared with them, from when it gets a chunk to when it wants the next one. What a stage does meanwhile, it does as this node.
 * - The streams' own methods are measured; nobody listens to data, so streams flow no sooner and wait as before. An error counts at
 *   the stage where it began.
 * - Streams that are closed are forgotten, and their nodes stay. Only streams of Node.js are seen, not functions or iterables.
 *
 * Throws a TypeError where there are fewer than two streams, one is no stream of Node.js, or is watched already.
 */
export function streamPipeline(
  streams: PipelineStreams,
  options: StreamPipelineOptions,
): InProcessAdapter<PipelineStreams> {
  const given = streams.length === 0 ? [] : [streams];
  return inProcessAdapter<PipelineStreams>(given, options, checkStreams, (host) => watchPipelines(host, options));
}

function watchPipelines(host: GraphHost, { name, stages: names }: StreamPipelineOptions): Watch<PipelineStreams> {
  const stages = new PipelineStages(host, name, names);
  const runs = new Set<() => void>();
  return {
    add(streams) {
      for (const stream of streams) if (watched.has(stream)) watched.enter(stream);
      for (const stream of streams) watched.enter(stream);
      // Every stage that is destroyed for the error of another one tells of the same error.
      let failure: unknown;
      const isNew = (error: unknown) => {
        if (failure !== undefined) return false;
        failure = error ?? new Error("unknown");
        return true;
      };
      const open = new Set(streams);
      const unwatch = undoing(
        stages.of(streams).map((stage, at) =>
          watchStage(streams[at]!, host, stage, isNew, () => {
            open.delete(streams[at]!);
            if (open.size === 0) end();
          }),
        ),
      );
      function end() {
        runs.delete(end);
        unwatch();
        for (const stream of streams) watched.leave(stream);
      }
      runs.add(end);
    },
    end() {
      for (const end of runs) end();
    },
  };
}

function checkStreams(streams: PipelineStreams): void {
  if (!Array.isArray(streams) || streams.length < 2) throw new TypeError("a pipeline has at least two streams");
  for (const [at, stream] of streams.entries()) {
    const needed = at === 0 ? ["push", "read", "destroy"] : ["write", "_write", "destroy"];
    if (hasMethods(stream, "on", ...needed)) continue;
    throw new TypeError(
      `stream ${at + 1} of a pipeline is no stream of Node.js that can be ${at === 0 ? "read" : "written"}`,
    );
  }
}
