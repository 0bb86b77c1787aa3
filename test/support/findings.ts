import type { Findings } from "../../src/auto/library.ts";
import type { GraphBuilder } from "../../src/integration-graph/builder.ts";

/** What a library's objects are given to, in this process: `flow` shows its messaging. Faults are thrown. */
export function findingsOf(flow: GraphBuilder): Findings & { end(): void } {
  const undo: (() => void)[] = [];
  return {
    loggers: () => {},
    store: () => {},
    messaging(adapter) {
      const detach = flow.graph.attach(adapter, { yields: true });
      undo.push(detach);
      return detach;
    },
    rootName: () => undefined,
    carefully: (see) => see(),
    end() {
      for (const each of undo.splice(0)) each();
    },
  };
}
