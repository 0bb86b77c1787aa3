export { type BullmqAdapter, bullmq } from "./adapter.ts";
export type { BullmqOptions, WorkerDescription } from "./options.ts";
export type { BullmqFlowProducer, BullmqQueue, BullmqQueueEvents, BullmqTarget, BullmqWorker } from "./target.ts";
