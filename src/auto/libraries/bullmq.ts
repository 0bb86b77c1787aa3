import type { BullmqTarget, bullmqSource } from "../../adapters/graph/bullmq/index.ts";
import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";
import { onSight } from "../sighting.ts";

interface Sights {
  /** What constructors call, before the object is whole. */
  readonly making?: readonly string[];
  /** What is called when the object is used. */
  readonly using?: readonly string[];
}

/** By the classes that these files export. A flow producer calls no method of its own until it is used. */
const CLASSES: Readonly<Record<string, Sights>> = {
  QueueBase: { making: ["createScripts", "createBackend"] },
  Queue: { using: ["add", "addBulk", "upsertJobScheduler"] },
  Worker: { making: ["createBackend"], using: ["callProcessJob", "getNextJob"] },
  QueueEvents: { using: ["emit"] },
  FlowProducer: { using: ["add", "addBulk"] },
};

const objects = new GraphObjects<BullmqTarget>(() =>
  part<{ bullmqSource: typeof bullmqSource }>("adapters/graph/bullmq/index").bullmqSource(),
);

/**
 * Queues, workers and the events of queues show themselves when they are made, and when they are used, as flow producers do. Redis is not
 * asked for anything, so what other processes have of queues, workers and schedulers is not shown.
 */
export const bullmq: Library = {
  watch(exports, findings) {
    const undo = Object.entries(exports).flatMap(([name, exported]) => {
      const sights = Object.hasOwn(CLASSES, name) ? CLASSES[name]! : {};
      return watchClass((exported as { prototype: object }).prototype, sights, findings);
    });
    return undoing(undo);
  },
  inHeap: {
    classes: {
      QueueBase: ["base64Name", "checkConnectionError", "waitUntilReady"],
      Queue: ["addBulk", "obliterate", "upsertJobScheduler"],
      Worker: ["callProcessJob", "getNextJob", "processJob"],
      QueueEvents: ["consumeEvents", "run"],
      FlowProducer: ["addBulk", "getFlow", "queueFromNode"],
    },
  },
  recognize(object, findings) {
    const { close, waitUntilReady, closing } = object as Record<string, unknown>;
    if (typeof close !== "function" || typeof waitUntilReady !== "function" || closing) return false;
    return objects.watch(object as BullmqTarget, findings);
  },
};

function watchClass(prototype: object, { making = [], using = [] }: Sights, findings: Findings): Undo[] {
  const see = (object: object) => void objects.watch(object as BullmqTarget, findings);
  const later = (object: object) => queueMicrotask(() => findings.carefully(() => see(object)));
  const isOpen = (object: object) => !(object as { closing?: unknown }).closing;
  return [
    ...making.map((method) => onSight(prototype, method, findings, later)),
    ...using.map((method) => onSight(prototype, method, findings, see, { again: true, when: isOpen })),
  ];
}
