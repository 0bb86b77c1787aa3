export type { InProcessAdapter, InProcessOptions } from "./adapter.ts";
export type { Emitter } from "./emitter-target.ts";
export { type EventEmitterOptions, eventEmitter } from "./event-emitter.ts";
