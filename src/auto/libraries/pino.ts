import type { PinoLogger, pinoLoggers } from "../../adapters/loggers/pino/index.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { replaceInPlace } from "../sighting.ts";

/** `pino/lib/proto.js` exports a function that makes an object over the prototype of all loggers. */
type Proto = () => object;

/** The last statement of `pino()` sets the level of the logger that it made. */
export const pino: Library = {
  watch(exports, findings, path) {
    const prototype = Object.getPrototypeOf((exports as Proto)()) as object;
    const setLevel = Object.getOwnPropertySymbols(prototype).find(({ description }) => description === "pino.setLevel");
    if (setLevel === undefined) return () => {};
    const known = new WeakSet<object>();
    return replaceInPlace(prototype, setLevel, (method, isLive) => {
      return function (this: object, level) {
        const result = method.call(this, level);
        // A root has an object of its own above it, and the prototype above that.
        const isRoot = Object.getPrototypeOf(Object.getPrototypeOf(this)) === prototype;
        if (!isRoot || !isLive() || known.has(this)) return result;
        known.add(this);
        findings.carefully(() => {
          const adapter = part<{ pinoLoggers: typeof pinoLoggers }>("adapters/loggers/pino/index");
          findings.rootName("pino", path);
          findings.loggers(adapter.pinoLoggers(this as PinoLogger));
        });
        return result;
      };
    });
  },
};
