import type { Library } from "../library.ts";
import { amqplib } from "./amqplib.ts";
import { betterAuth } from "./better-auth.ts";
import { bullmq } from "./bullmq.ts";
import { debug } from "./debug.ts";
import { expressSession } from "./express-session.ts";
import { fastifySession } from "./fastify-session.ts";
import { kafkajs } from "./kafkajs.ts";
import { koaSession } from "./koa-session.ts";
import { log4js } from "./log4js.ts";
import { logtape } from "./logtape.ts";
import { mqtt } from "./mqtt.ts";
import { nats } from "./nats.ts";
import { nestjs } from "./nestjs.ts";
import { nestjsMessaging } from "./nestjs-messaging.ts";
import { pino } from "./pino.ts";
import { platformaticKafka } from "./platformatic-kafka.ts";
import { ioredis, nodeRedis } from "./redis.ts";
import { winston } from "./winston.ts";

/** Every library that is recognised, by the name in the table of watched files. */
export const LIBRARIES = {
  "better-auth": betterAuth,
  amqplib,
  bullmq,
  "express-session": expressSession,
  "@fastify/session": fastifySession,
  "koa-session": koaSession,
  ioredis,
  nats,
  "nestjs-messaging": nestjsMessaging,
  debug,
  log4js,
  logtape,
  nestjs,
  pino,
  winston,
  redis: nodeRedis,
  kafkajs,
  mqtt,
  "platformatic-kafka": platformaticKafka,
} satisfies Readonly<Record<string, Library>>;

/** The name of a library that is recognised. */
export type LibraryName = keyof typeof LIBRARIES;
