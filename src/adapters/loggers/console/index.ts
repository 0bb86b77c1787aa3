import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { checkOptions, text } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost, RecordSink } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { loggerName } from "../../../loggers/name.ts";
import { undoing } from "../../kit/interception/replaced-method.ts";
import { callContent } from "../../kit/loggers/call-content.ts";
import { isHandedOver } from "../../kit/loggers/hand-over.ts";
import { keptRecord } from "../../kit/loggers/kept-record.ts";
import { recordSinks } from "../../kit/loggers/record-sinks.ts";

/** How the console is named. */
export interface ConsoleLoggerOptions {
  /** The name of its logger. Default: `console`. */
  readonly name?: string | undefined;
}

/** The methods that Node.js tells of; `console.trace`, `console.table` and others call one of them. */
const LEVELS_BY_METHOD = {
  log: "INFO",
  info: "INFO",
  debug: "DEBUG",
  warn: "WARN",
  error: "ERROR",
} satisfies Readonly<Record<string, Level>>;

const NO_LEVEL = "the console has no level: every call is written";
const NOT_HEARD = "what is written to the console can be read from Node.js 22.14 on";

/**
 * Shows the console as a logger, so that what is written to it can be read. It has no level: the one in effect is always TRACE, and
 * a level that an operator sets changes nothing, which the answer says. Node.js tells of the calls, from 22.14 on; no method is
 * replaced.
 *
 * `console.log` and `console.info` are INFO. What NestJS, log4js, LogTape, debug or winston write to the console during a call of
 * theirs is read as a record of theirs, and not once more; what a library writes later is read twice. What is written to
 * `process.stdout`, and `console.dir`, is not read.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { consoleLogger } from "connect-actuator/console";
 *
 * const actuator = createActuator({ loggers: { adapters: [consoleLogger()] } });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): LoggerAdapter {
  checkOptions<ConsoleLoggerOptions>("consoleLogger", options, { name: text });
  const name = loggerName(options.name ?? "console");
  const handle = { name, level: "TRACE", apply() {}, restore() {} } as const satisfies LoggerHandle & { name: string };
  const isHeard = hasChannels();
  return {
    kind: "console",
    attach(host: LoggerHost) {
      // It does not inherit: a level set above is not one of the console.
      if (host.discovered(name, handle, handle.level)) {
        host.warn(name, NO_LEVEL);
        if (!isHeard) host.warn(name, NOT_HEARD);
      }
      return () => {};
    },
    ...(isHeard && { tail: (sinkOf: (name: string) => RecordSink | undefined) => tailRecords(handle, sinkOf) }),
    hides: NO_LEVEL,
  };
}

/** Whether Node.js tells of the calls: it has channels for them since 22.14. */
function hasChannels(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 14);
}

function tailRecords(handle: { readonly name: string }, sinkOf: (name: string) => RecordSink | undefined): () => void {
  const sinks = recordSinks<{ readonly name: string }>(sinkOf);
  return undoing(
    Object.entries(LEVELS_BY_METHOD).map(([method, level]) => {
      const head = { verbosity: levelVerbosity(level), nativeLevel: method, hidden: false };
      const written = (message: unknown) => {
        const args = message as readonly unknown[];
        const sink = isHandedOver(args) ? undefined : sinks.find(handle, head.verbosity);
        if (sink !== undefined) sinks.give(sink, () => keptRecord(head, callContent(args)));
      };
      const channel = `console.${method}`;
      subscribe(channel, written);
      return () => void unsubscribe(channel, written);
    }),
  );
}
