import type { LoggerAdapter } from "../../loggers/adapter.ts";
import type { Findings, Library } from "../library.ts";
import { part } from "../parts.ts";
import { onAssigned } from "../sighting.ts";

/** Where all copies of LogTape in a process keep their one tree. */
const ROOT = Symbol.for("logtape.rootLogger");

/** By application, the trees that are shown. */
const shown = new WeakMap<Findings, WeakSet<object>>();

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
  const trees = shown.get(findings) ?? new WeakSet();
  shown.set(findings, trees);
  if (trees.has(root)) return;
  trees.add(root);
  findings.loggers(part<{ logtapeLoggers(): LoggerAdapter }>("adapters/loggers/logtape/index").logtapeLoggers());
}
