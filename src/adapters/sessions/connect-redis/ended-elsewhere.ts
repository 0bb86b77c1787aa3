import type { ConnectStore } from "../../kit/connect-session/store.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import type { EndedMarks } from "../../kit/redis/ended-marks.ts";

/**
 * Removes again what a request of this process has saved although an operator has ended it by another process. From then on
 * this process refuses to save it. Returns what ends that.
 */
export function keepEndedElsewhere(
  store: ConnectStore,
  marks: EndedMarks,
  remove: (id: string) => Promise<unknown>,
): () => void {
  const watch = watchStore(store, {
    async written(id, made) {
      if (!made && (await marks.has(id))) await watch.end(id, () => remove(id));
    },
  });
  return watch.detach;
}
