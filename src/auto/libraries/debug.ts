import type { DebugFactory } from "../../adapters/loggers/debug/index.ts";
import type { LoggerAdapter } from "../../loggers/adapter.ts";
import { beforeUse } from "../debug-use.ts";
import type { Findings, Library } from "../library.ts";
import { part } from "../parts.ts";
import { ShownObjects } from "../shown-objects.ts";

interface Adapters {
  debugLoggers(copy: DebugFactory): LoggerAdapter;
}

const copies = new ShownObjects();

function show(copy: object, findings: Findings): void {
  if (!copies.add(copy, findings)) return;
  const { debugLoggers } = part<Adapters>("adapters/loggers/debug/index");
  findings.loggers(debugLoggers(copy as DebugFactory));
}

/**
 * A copy of debug is shown, with all its namespaces, once the application's own code makes a logger of it. Most copies serve packages
 * alone, such as express, and many processes have one: that would open a socket in every tool, and fill each list with namespaces that
 * are off.
 */
export const debug: Library = {
  watch(exports, findings, path) {
    // Called with each logger that is made.
    return beforeUse(exports, "init", path, () => findings.carefully(() => show(exports, findings)));
  },
  meet(exports, findings, path) {
    const copy = exports as { namespaces?: unknown };
    if (!("namespaces" in copy)) return () => {};
    const before = copy.namespaces;
    // Another value makes each logger ask again, at its next call, whether it is enabled.
    const asking = new String(before ?? "");
    copy.namespaces = asking;
    const restore = () => {
      if (copy.namespaces === asking) copy.namespaces = before;
    };
    const undo = beforeUse(exports, "enabled", path, () => {
      restore();
      findings.carefully(() => show(exports, findings));
    });
    return () => {
      undo();
      restore();
    };
  },
};
