import type { LoggerAdapter } from "../../loggers/adapter.ts";
import type { Findings, Library } from "../library.ts";
import { part } from "../parts.ts";
import { ShownObjects } from "../shown-objects.ts";
import { onAssigned } from "../sighting.ts";

/** Where all copies of LogTape in a process keep their one tree. */
const ROOT = Symbol.for("logtape.rootLogger");

const trees = new ShownObjects();

/** The tree is made when the first logger is asked for, or by the first configuration. */
export const logtape: Library = {
  watch(_, findings) {
    const root: unknown = Reflect.get(globalThis, ROOT);
    if (root === undefined) {
      return onAssigned(globalThis, ROOT, findings, () => show(Reflect.get(globalThis, ROOT) as object, findings));
    }
    show(root as object, findings);
    return () => {};
  },
  inHeap: { classes: { Logger: ["getChild", "getSinks", "resetDescendants"] } },
};

function show(root: object, findings: Findings): void {
  if (!trees.add(root, findings)) return;
  findings.loggers(part<{ logtapeLoggers(): LoggerAdapter }>("adapters/loggers/logtape/index").logtapeLoggers());
}
