import type { LibraryName } from "./libraries/index.ts";

/** A file of a package whose exports are looked at when it has been loaded. */
export interface WatchedFile {
  readonly library: LibraryName;
  /** Whether it is an ES module, at least in some versions: only a load hook can see that. Default: CommonJS. */
  readonly isModule?: boolean;
}

/** The files that are looked at, as `<package>/<path in the package>`. */
export const WATCHED_FILES: Readonly<Record<string, WatchedFile>> = {
  "@nats-io/jetstream/lib/jsclient.js": { library: "nats" },
  "@nats-io/nats-core/lib/nats.js": { library: "nats" },
  "@nats-io/nats-core/lib/protocol.js": { library: "nats" },
  "nats/lib/jetstream/jsclient.js": { library: "nats" },
  "nats/lib/nats-base-client/nats.js": { library: "nats" },
  "nats/lib/nats-base-client/protocol.js": { library: "nats" },
  "@nestjs/core/nest-application-context.js": { library: "nestjs-messaging", isModule: true },
  "@nestjs/core/nest-factory.js": { library: "nestjs-messaging", isModule: true },
  "@logtape/logtape/dist/logger.cjs": { library: "logtape" },
  "@logtape/logtape/dist/logger.js": { library: "logtape", isModule: true },
  "@nestjs/common/index.js": { library: "nestjs", isModule: true },
  "debug/src/index.js": { library: "debug" },
  "log4js/lib/log4js.js": { library: "log4js" },
  "winston/lib/winston.js": { library: "winston" },
  "@redis/client/dist/lib/client/index.js": { library: "redis" },
  "ioredis/built/Redis.js": { library: "ioredis" },
  "amqplib/lib/channel_model.js": { library: "amqplib" },
  "amqplib/lib/callback_model.js": { library: "amqplib" },
  "amqplib/lib/connection.js": { library: "amqplib" },
  "kafkajs/src/index.js": { library: "kafkajs" },
  "@platformatic/kafka/dist/index.js": { library: "platformatic-kafka", isModule: true },
  "mqtt/build/lib/client.js": { library: "mqtt" },
  "bullmq/dist/cjs/classes/queue-base.js": { library: "bullmq" },
  "bullmq/dist/cjs/classes/queue.js": { library: "bullmq" },
  "bullmq/dist/cjs/classes/worker.js": { library: "bullmq" },
  "bullmq/dist/cjs/classes/queue-events.js": { library: "bullmq" },
  "bullmq/dist/cjs/classes/flow-producer.js": { library: "bullmq" },
  "pino/lib/proto.js": { library: "pino" },
  "express-session/index.js": { library: "express-session" },
  "fastify/fastify.js": { library: "@fastify/session" },
  "@fastify/session/lib/session.js": { library: "@fastify/session" },
  "koa-session/dist/commonjs/index.js": { library: "koa-session" },
  "koa-session/dist/commonjs/context.js": { library: "koa-session" },
  "koa-session/dist/esm/index.js": { library: "koa-session", isModule: true },
  "koa-session/dist/esm/context.js": { library: "koa-session", isModule: true },
  "@better-auth/core/dist/context/global.mjs": { library: "better-auth", isModule: true },
};
