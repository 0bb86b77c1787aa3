import { libraryCall } from "./identity.ts";
import type { Undo } from "./library.ts";
import { replaceInPlace } from "./sighting.ts";

/**
 * Calls `see` before a method of a copy of debug first serves the application's own code, rather than another package. The method is then
 * as it was, and what `see` has put in its place is called.
 *
 * @param path a path or URL in the copy
 */
export function beforeUse(copy: object, key: "init" | "enabled", path: string, see: () => void): Undo {
  const undo = replaceInPlace(copy, key, (method, isLive) => {
    return function (this: object, ...args) {
      if (!isLive() || libraryCall(path).from !== "") return Reflect.apply(method, this, args);
      undo();
      see();
      return Reflect.apply(Reflect.get(copy, key) as typeof method, this, args);
    };
  });
  return undo;
}
