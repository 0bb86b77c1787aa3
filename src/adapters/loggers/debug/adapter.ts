import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { type DebugObserver, debugInstrumentation } from "./instrumentation.ts";
import type { Namespace } from "./namespace.ts";
import { type DebugCopy, type DebugFactory, debugCopy } from "./native.ts";

/** How namespaces of debug are named. */
export interface DebugLoggersOptions {
  /**
   * The name of a namespace's logger; undefined for one that is left to debug's own patterns. Default: the namespace
   * itself, so that `app:http` is the logger `app.http`.
   */
  readonly nameOf?: ((namespace: string) => string | undefined) | undefined;
}

/**
 * Manages the namespaces of debug 4.3 and newer: of one copy or, where several packages bring their own, of several.
 *
 * debug knows on and off alone. DEBUG and TRACE switch a namespace on, every other level off, and DEBUG or OFF is reported as
 * reached. A namespace that the patterns of `DEBUG=` or `debug.enable()` name is configured DEBUG when it is found; one that they
 * exclude, or of which they name only an ancestor, OFF. Any other inherits, from ROOT in the end: while ROOT is at DEBUG, every namespace that nobody excluded is on.
 *
 * Namespaces are found when a logger is made; those made before, of which debug keeps no list, at their next call. What
 * application code does with `debug.enable()` and `debug.disable()` is adopted at once, what it sets as `enabled` of a single
 * logger when somebody reads. The environment is not touched.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no copy of debug, or one before 4.3.
 */
export function debugLoggers(
  debug: DebugFactory | readonly [DebugFactory, ...DebugFactory[]],
  options: DebugLoggersOptions = {},
): LoggerAdapter {
  const copies = new Set((Array.isArray(debug) ? debug : [debug as DebugFactory]).map(debugCopy));
  const nameOf = options.nameOf ?? ((namespace) => namespace);
  let attached: readonly Attachment[] = [];
  return {
    kind: "debug",
    attach(host) {
      attached = [...copies].map((copy) => attachCopy(copy, nameOf, host));
      return () => {
        for (const { detach } of attached) detach();
        attached = [];
      };
    },
    refresh() {
      for (const { refresh } of attached) refresh();
    },
  };
}

interface Attachment {
  refresh(): void;
  detach(): void;
}

function attachCopy(copy: DebugCopy, nameOf: (namespace: string) => string | undefined, host: LoggerHost): Attachment {
  const instrumentation = debugInstrumentation(copy);
  const handles = new Map<Namespace, LoggerHandle>();
  const observer: DebugObserver = {
    found(namespace) {
      const name = nameOf(namespace.name);
      if (name === undefined) return false;
      const handle: LoggerHandle = {
        apply: (level) => {
          instrumentation.turn(namespace, levelVerbosity(level) >= levelVerbosity("DEBUG"));
          return levelOf(namespace);
        },
      };
      const taken = host.discovered(name, handle, namespace.configured ? levelOf(namespace) : undefined);
      if (taken) handles.set(namespace, handle);
      return taken;
    },
    switched(namespace) {
      const handle = handles.get(namespace);
      if (handle !== undefined && !host.pushing) host.changedOutside(handle, levelOf(namespace));
    },
  };
  instrumentation.start(observer);
  return { refresh: () => instrumentation.refresh(), detach: () => instrumentation.stop(observer) };
}

function levelOf({ on }: Namespace): Level {
  return on ? "DEBUG" : "OFF";
}
