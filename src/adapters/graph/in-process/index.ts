export type { Emitter } from "../../kit/messaging/emitter-target.ts";
export type { InProcessAdapter, InProcessOptions } from "../../kit/messaging/in-process-adapter.ts";
export { type EventEmitterOptions, eventEmitter } from "./event-emitter.ts";
export { messageChannel } from "./message-channel.ts";
export type { BothPorts, MessageEnd, MessageTarget } from "./message-target.ts";
export { type PipelineStreams, type StreamPipelineOptions, streamPipeline } from "./stream-pipeline.ts";
export type { PipelineStream } from "./stream-stage.ts";
