import type { DebugFactory } from "../../adapters/loggers/debug/index.ts";
import type { LoggerAdapter } from "../../loggers/adapter.ts";
import { libraryCall } from "../identity.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";
import { replaceInPlace } from "../sighting.ts";

interface Adapters {
  debugLoggers(copy: DebugFactory): LoggerAdapter;
}

/**
 * A copy of debug is shown, with all its namespaces, once the application's own code makes a logger of it. Most copies serve packages
 * alone, such as express, and many processes have one: that would open a socket in every tool, and fill each list with namespaces that
 * are off.
 */
export const debug: Library = {
  // Called with each logger that is made.
  watch: (exports, findings, path) => onUse(exports, "init", findings, path),
  meet(exports, findings, path) {
    const copy = exports as { namespaces?: unknown };
    if (!("namespaces" in copy)) return () => {};
    const before = copy.namespaces;
    // Another value makes each logger ask again, at its next call, whether it is enabled.
    const asking = new String(before ?? "");
    copy.namespaces = asking;
    return onUse(exports, "enabled", findings, path, () => {
      if (copy.namespaces === asking) copy.namespaces = before;
    });
  },
};

/** By application, the copies that are shown. */
const shown = new WeakMap<Findings, WeakSet<object>>();

/** Shows a copy when such a method serves the application's own code. `restore` is called before, or else by the returned function. */
function onUse(copy: object, key: string, findings: Findings, path: string, restore: Undo = () => {}): Undo {
  const copies = shown.get(findings) ?? new WeakSet();
  shown.set(findings, copies);
  const undoPatch = replaceInPlace(copy, key, (method, isLive) => {
    return function (this: object, ...args) {
      if (!isLive() || copies.has(copy) || libraryCall(path).from !== "") return Reflect.apply(method, this, args);
      undo();
      copies.add(copy);
      findings.carefully(() => {
        const { debugLoggers } = part<Adapters>("adapters/loggers/debug/index");
        findings.loggers(debugLoggers(copy as DebugFactory));
      });
      return Reflect.apply(Reflect.get(copy, key) as typeof method, this, args);
    };
  });
  function undo(): void {
    undoPatch();
    restore();
  }
  return undo;
}
