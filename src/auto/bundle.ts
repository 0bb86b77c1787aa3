import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { placeInPackages } from "./place-in-packages.ts";

/** Text in the code of libraries that minifiers leave as it is. */
const MARKS: Readonly<Record<string, string>> = {
  "@fastify/session": "the secret must have length 32 or greater",
  amqplib: "Channel ended, no reply will be forthcoming",
  bullmq: "BullMQ: ",
  "express-session": "req.secret; provide secret option",
  ioredis: "[ioredis] Unhandled error event",
  kafkajs: "KafkaJSNonRetriableError",
  "koa-session": "koa-session:context",
  mqtt: "mqttjs_",
  pino: "pino.setLevel",
  winston: "Attempt to write logs with no transports",
};

/** A script with one of these libraries inside is larger, also if it is minified. */
const MIN_BYTES = 16 * 1024;

/** Looking at so much takes about 20 ms. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Names the libraries whose code is in the script that this process runs, which is then a bundle. */
export function bundledLibraries(script = mainScript()): readonly string[] {
  if (script === undefined || placeInPackages(script) !== undefined) return [];
  const size = statSync(script, { throwIfNoEntry: false })?.size ?? 0;
  if (size < MIN_BYTES || size > MAX_BYTES) return [];
  const code = readFileSync(script);
  return Object.keys(MARKS).filter((library) => code.includes(MARKS[library]!, "latin1"));
}

function mainScript(): string | undefined {
  // Node.js completes the path of CommonJS: `node dist/app`.
  return createRequire(import.meta.url).main?.filename ?? process.argv[1];
}
