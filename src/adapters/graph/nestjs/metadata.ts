/**
 * What the decorators of NestJS and its modules leave on classes and methods. These names are no public interface: they are those
 * of NestJS 12 and 11, @nestjs/cqrs, @nestjs/microservices, @nestjs/bullmq, @nestjs/schedule and @nestjs/event-emitter.
 */
const METADATA = {
  /** On classes. */
  commandHandler: "__commandHandler__",
  queryHandler: "__queryHandler__",
  eventsHandler: "__eventsHandler__",
  sagas: "__saga__",
  processor: "bullmq:processor_metadata",
  worker: "bullmq:worker_metadata",
  /** On methods. */
  pattern: "microservices:pattern",
  transport: "microservices:transport",
  handlerType: "microservices:handler_type",
  onEvent: "EVENT_LISTENER_METADATA",
  cron: "SCHEDULE_CRON_OPTIONS",
  interval: "SCHEDULE_INTERVAL_OPTIONS",
  timeout: "SCHEDULE_TIMEOUT_OPTIONS",
  /** On controllers and their methods. */
  path: "path",
  method: "method",
} as const;

/** What `reflect-metadata` adds, which every application of NestJS loads. */
interface ReflectMetadata {
  getMetadata?(key: unknown, target: object): unknown;
  getMetadataKeys?(target: object): unknown[];
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

const reflect = Reflect as ReflectMetadata;

/** What a class or a method is decorated with; undefined where it is not. */
export function metadataOf(key: keyof typeof METADATA, target: unknown): unknown {
  if (typeof target !== "function") return undefined;
  return reflect.getMetadata?.(METADATA[key], target);
}

/** What stands in the place of a method is decorated as it is. */
export function copyMetadata(from: object, to: object): void {
  for (const key of reflect.getMetadataKeys?.(from) ?? []) {
    reflect.defineMetadata?.(key, reflect.getMetadata?.(key, from), to);
  }
}
