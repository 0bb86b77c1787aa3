import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "./until.ts";

/** Resolves when all of these objects have been collected. */
export async function collected(refs: readonly WeakRef<object>[]): Promise<void> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  await until(() => {
    gc();
    return refs.every((ref) => ref.deref() === undefined);
  });
}
