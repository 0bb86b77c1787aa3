export type { InProcessAdapter, InProcessOptions } from "./adapter.ts";
export type { Emitter } from "./emitter-target.ts";
export { type EventEmitterOptions, eventEmitter } from "./event-emitter.ts";
export { messageChannel } from "./message-channel.ts";
export type { BothPorts, MessageEnd, MessageTarget } from "./message-target.ts";
export { type PipelineStreams, type StreamPipelineOptions, streamPipeline } from "./stream-pipeline.ts";
export type { PipelineStream } from "./stream-stage.ts";
