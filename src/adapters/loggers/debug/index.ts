import { stripVTControlCharacters, types } from "node:util";
import { callable, checkOptions, flag } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { objectsBelow } from "../../kit/heap/heap-search.ts";
import { undoing } from "../../kit/interception/replaced-method.ts";
import { callContent } from "../../kit/loggers/call-content.ts";
import { keptRecord } from "../../kit/loggers/kept-record.ts";
import { type RecordSinks, recordSinks } from "../../kit/loggers/record-sinks.ts";
import { type DebugObserver, debugInstrumentation, type Namespace } from "./instrumentation.ts";
import { type DebugCopy, type DebugFactory, debugCopy } from "./native.ts";
import { recordListening } from "./record-listening.ts";

export type { DebugFactory } from "./native.ts";

/** How the namespaces of debug are named. */
export interface DebugLoggersOptions {
  /**
   * Returns the name for a namespace, or undefined to leave it to debug's own patterns. Default: the namespace itself, so that
   * `app:http` is the logger `app.http`.
   */
  readonly nameOf?: ((namespace: string) => string | undefined) | undefined;
  /**
   * Whether namespaces whose loggers exist already are searched for in the heap when the adapter is attached, instead of being listed at
   * their next call. That stops the process for about 13 ms per MB of heap with Node.js 24, and up to 20 with 22. Default: false.
   */
  readonly findExisting?: boolean | undefined;
}

/**
 * Manages the namespaces of debug 4.3 and newer: of one copy or, if several packages bring their own, of several.
 *
 * debug has only on and off. DEBUG and TRACE switch a namespace on, every other level switches it off, and the effective level
 * is DEBUG or OFF. A namespace that matches the patterns of `DEBUG=` or `debug.enable()` is configured as DEBUG when it is
 * found. One that they exclude, or of which they name only an ancestor, is configured as OFF. Any other inherits, in the end
 * from ROOT: with ROOT at DEBUG, every namespace is on that is not excluded.
 *
 * A namespace is found when a logger is made for it. debug keeps no list of earlier loggers; they are found at their next call, or at
 * once with `findExisting`.
 * Calls of `debug.enable()` and `debug.disable()` are adopted at once, and what the application sets as `enabled` of a single
 * logger at the next listing. The environment variable is not changed.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { debugLoggers } from "connect-actuator/debug";
 * import debug from "debug";
 *
 * const actuator = createActuator({ loggers: { adapters: [debugLoggers(debug)] } });
 * const orders = debug("shop:orders");
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a value is not debug, or an older version than 4.3.
 */
export function debugLoggers(
  debug: DebugFactory | readonly [DebugFactory, ...DebugFactory[]],
  options: DebugLoggersOptions = {},
): LoggerAdapter {
  checkOptions<DebugLoggersOptions>("debugLoggers", options, { nameOf: callable, findExisting: flag });
  const list = Array.isArray(debug) && debug.length > 0 ? debug : [debug as DebugFactory];
  const copies = new Set(list.map(debugCopy));
  const nameOf = options.nameOf ?? ((namespace) => namespace);
  let attached: readonly Attachment[] = [];
  const read = () => {
    for (const { refresh } of attached) refresh();
  };
  return {
    kind: "debug",
    attach(host) {
      attached = [...copies].map((copy) => attachCopy(copy, nameOf, host));
      if (options.findExisting) askExisting();
      return () => {
        for (const { detach } of attached) detach();
        attached = [];
      };
    },
    refresh: read,
    readLevels: read,
    tail(sinkOf) {
      const sinks = recordSinks<NamedHandle>(sinkOf);
      return undoing(attached.map(({ copy, handles }) => tailRecords(copy, handles, sinks)));
    },
    hides: "a logger of debug may have a function of its own that writes, which cannot be kept from writing",
  };
}

function tailRecords(copy: DebugCopy, handles: ReadonlyMap<string, NamedHandle>, sinks: RecordSinks<NamedHandle>) {
  const head = { verbosity: levelVerbosity("DEBUG"), nativeLevel: "debug", hidden: false };
  return recordListening(copy).observe((namespace, args) => {
    const sink = sinks.find(handles.get(namespace), head.verbosity);
    if (sink === undefined) return;
    sinks.give(sink, () => {
      const content = callContent(args);
      // debug has put objects into the text, in colours.
      return keptRecord(head, { ...content, message: stripVTControlCharacters(content.message) });
    });
  });
}

/** A logger asks its copy whether it is on, which lists its namespace. */
function askExisting(): void {
  for (const logger of objectsBelow(Function.prototype)) if (isLogger(logger)) void logger.enabled;
}

function isLogger(made: object): made is { readonly enabled: boolean } {
  const own = (key: string) => Object.getOwnPropertyDescriptor(made, key);
  return !types.isProxy(made) && typeof own("namespace")?.value === "string" && own("enabled")?.get !== undefined;
}

/** The handle of a namespace. */
interface NamedHandle extends LoggerHandle {
  readonly name: string;
}

interface Attachment {
  readonly copy: DebugCopy;
  /** By namespace. */
  readonly handles: ReadonlyMap<string, NamedHandle>;
  refresh(): void;
  detach(): void;
}

function attachCopy(copy: DebugCopy, nameOf: (namespace: string) => string | undefined, host: LoggerHost): Attachment {
  const instrumentation = debugInstrumentation(copy);
  const handles = new Map<string, NamedHandle>();
  const observer: DebugObserver = {
    found(namespace) {
      const name = nameOf(namespace.name);
      if (name === undefined) return false;
      const handle: NamedHandle = {
        name,
        get level() {
          return levelOf(namespace);
        },
        apply: (level) => instrumentation.turn(namespace, levelVerbosity(level) >= levelVerbosity("DEBUG")),
        restore: () => instrumentation.turn(namespace, undefined),
      };
      handles.set(namespace.name, handle);
      if (host.discovered(name, handle, ownLevel(namespace))) return true;
      handles.delete(namespace.name);
      return false;
    },
    switched(namespace) {
      const handle = handles.get(namespace.name);
      if (handle !== undefined && !host.pushing) host.changedOutside(handle, ownLevel(namespace));
    },
  };
  return { copy, handles, refresh: () => instrumentation.refresh(), detach: instrumentation.start(observer) };
}

function ownLevel(namespace: Namespace): Level | undefined {
  return namespace.configured ? levelOf(namespace) : undefined;
}

function levelOf({ on }: Namespace): Level {
  return on ? "DEBUG" : "OFF";
}
