export type { Emitter } from "../../kit/messaging/emitter-target.ts";
export { type EventEmitterOptions, eventEmitterSource } from "./event-emitter.ts";
export {
  type BothPorts,
  type MessageEnd,
  type MessageTarget,
  messageChannelSource,
} from "./message-channel.ts";
export type { InProcessAdapter, InProcessOptions } from "./options.ts";
export {
  type PipelineStream,
  type PipelineStreams,
  type StreamPipelineOptions,
  streamPipelineSource,
} from "./stream-pipeline.ts";
