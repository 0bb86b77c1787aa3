import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import type { PinoLogger, PinoLoggersOptions } from "../../adapters/loggers/pino/index.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { type GrowingAdapter, rootLoggers } from "../root-loggers.ts";
import { onSight, replaceInPlace } from "../sighting.ts";

/** `pino/lib/proto.js` exports a function that makes an object over the prototype of all loggers. */
type Proto = () => object;

interface Adapters {
  pinoLoggers(first: PinoLogger, options: PinoLoggersOptions): GrowingAdapter<PinoLogger>;
}

const found = rootLoggers<PinoLogger>("pino", (first, name) =>
  part<Adapters>("adapters/loggers/pino/index").pinoLoggers(first, { name: name() }),
);

/** The last statement of `pino()` sets the level of the logger that it made. */
export const pino: Library = {
  watch(exports, findings, path) {
    const prototype = prototypeOf(exports);
    return replaceInPlace(prototype, symbolOf(prototype, "pino.setLevel"), (setLevel, isLive) => {
      return function (this: object, level) {
        const result = setLevel.call(this, level);
        if (isRoot(this, prototype) && isLive()) findings.carefully(() => found(this as PinoLogger, findings, path));
        return result;
      };
    });
  },
  meet(exports, findings, path) {
    const prototype = prototypeOf(exports);
    const meet = (logger: object) => {
      let root = logger;
      while (!isRoot(root, prototype)) root = Object.getPrototypeOf(root) as object;
      found(root as PinoLogger, findings, path);
      found(logger as PinoLogger, findings, path);
    };
    const keys = [symbolOf(prototype, "pino.write"), "child"];
    return undoing(keys.map((key) => onSight(prototype, key, findings, meet, { again: true })));
  },
  inHeap: {
    classes: { proto: ["bindings", "child", "isLevelEnabled", "setBindings"] },
    exports: (prototype) => () => Object.create(prototype) as object,
  },
  recognize(object, findings, path) {
    const isLogger = (object as { readonly levels?: unknown }).levels !== undefined;
    if (isLogger) found(object as PinoLogger, findings, path, { isEachFound: true });
    return isLogger;
  },
};

function prototypeOf(exports: object): object {
  // Before pino 6 it is the prototype itself.
  return typeof exports === "function" ? (Object.getPrototypeOf((exports as Proto)()) as object) : exports;
}

/** A root has an object of its own above it, and the prototype above that. */
function isRoot(logger: object, prototype: object): boolean {
  return Object.getPrototypeOf(Object.getPrototypeOf(logger)) === prototype;
}

/** pino's symbols are not registered. One that is missing leaves what is found by it unseen. */
function symbolOf(prototype: object, description: string): symbol {
  const symbols = Object.getOwnPropertySymbols(prototype);
  return symbols.find((symbol) => symbol.description === description) ?? Symbol(description);
}
