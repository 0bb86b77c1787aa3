/**
 * What pages take for granted where they show a part of an application: names that a block of code uses and does not declare are
 * these. Nothing of it is ever run.
 */
import type { EventEmitter } from "node:events";
import type { RequestListener } from "node:http";
import type { MeterProvider } from "@opentelemetry/api";
import type { ChannelModel } from "amqplib";
import type { Application } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { RedisClientType } from "redis";
import type {
  Actuator,
  ActuatorLoggersOptions,
  CallerDescription,
  GraphBuilder,
  ListenOptions,
  SessionStore,
} from "../../src/index.ts";

export { default as http } from "node:http";
export { ConsoleLogger, Logger } from "@nestjs/common";
export { NestFactory } from "@nestjs/core";
export { RedisStore } from "connect-redis";
export { default as session, type Store } from "express-session";
export { fastify } from "fastify";
export { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
export { connectRedisSessions } from "../../src/adapters/sessions/connect-redis/index.ts";
export { expressSessions } from "../../src/adapters/sessions/express-session/index.ts";
export { ActuatorModule, nestjsLoggers } from "../../src/frameworks/nestjs/index.ts";
export { createActuator, integrationGraph, requestLevel, signLevelToken } from "../../src/index.ts";

/** The configuration service of NestJS, which is not installed here. */
export declare class ConfigService {
  getOrThrow<T>(name: string): T;
}

/** The root module of an application of NestJS. */
export declare class AppModule {}

/** As much of better-sqlite3, which is not installed here, as pages use. */
interface BetterSqlite {
  prepare(sql: string): {
    raw(): { iterate(): Iterable<[string, string]>; all(...values: string[]): [string, string][] };
  };
}

/** What an order of the application is. */
export interface Order {
  readonly id: string;
}

export declare const actuator: Actuator;
export declare const app: Application;
export declare const application: RequestListener;
export declare const breaker: { readonly opened: boolean };
export declare const bus: EventEmitter;
export declare const client: RedisClientType;
export declare const connection: ChannelModel;
export declare const db: BetterSqlite;
export declare const flow: GraphBuilder;
export declare const graph: GraphBuilder;
export declare const handle: (request: unknown) => Promise<void>;
export declare const isComplete: (order: Order) => boolean;
export declare const key: string;
export declare const listen: ListenOptions;
export declare const logger: Logger;
export declare const loggers: ActuatorLoggersOptions;
export declare const lookUp: (apiKey: string | undefined) => Promise<Pick<CallerDescription, "name"> | undefined>;
export declare const meterProvider: MeterProvider;
/** What a page leaves out by a comment of three dots. */
export declare const omitted: { readonly secret: string };
export declare const pool: Pool;
export declare const request: unknown;
export declare const sessions: SessionStore;
export declare const store: import("connect-redis").RedisStore;
