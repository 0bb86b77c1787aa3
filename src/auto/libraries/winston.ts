import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import type {
  WinstonContainer,
  WinstonLogger,
  WinstonLoggersOptions,
  WinstonModule,
} from "../../adapters/loggers/winston/index.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { type GrowingAdapter, rootLoggers } from "../root-loggers.ts";
import { onSight, replaceInPlace } from "../sighting.ts";

/** What `winston/lib/winston.js` exports. */
interface Winston extends WinstonModule {
  readonly Logger: { readonly prototype: object };
  readonly Container: { readonly prototype: object };
  readonly child?: (metadata: object) => object;
}

type Source = WinstonLogger | WinstonContainer;

interface Adapters {
  winstonLoggers(first: Source, options: WinstonLoggersOptions): GrowingAdapter<Source>;
}

const found = rootLoggers<Source>("winston", (first, name) =>
  part<Adapters>("adapters/loggers/winston/index").winstonLoggers(first, {
    name: "loggers" in first ? undefined : name(),
  }),
);

/** Each logger configures itself when it is made. */
export const winston: Library = {
  watch(exports, findings, path) {
    const { Logger, Container, child } = exports as Winston;
    // Before 3.2.
    if (typeof child !== "function") return () => {};
    // The default logger is made while winston loads, and counts only once the application uses it.
    const defaultLogger = Object.getPrototypeOf(child({})) as object;
    const containers = new WeakSet<object>();
    let adding = 0;
    return undoing([
      replaceInPlace(Logger.prototype, "configure", (configure, isLive) => {
        return function (this: object, ...args) {
          const result = Reflect.apply(configure, this, args);
          // The adapter itself sees what containers make, and by which id.
          if (adding === 0 && isLive()) findings.carefully(() => found(this as WinstonLogger, findings, path));
          return result;
        };
      }),
      replaceInPlace(Logger.prototype, "add", (add, isLive) => {
        return function (this: object, ...args) {
          const result = Reflect.apply(add, this, args);
          if (this === defaultLogger && isLive()) {
            findings.carefully(() => found(this as WinstonLogger, findings, path));
          }
          return result;
        };
      }),
      replaceInPlace(Container.prototype, "add", (add, isLive) => {
        return function (this: object, ...args) {
          adding++;
          try {
            return Reflect.apply(add, this, args);
          } finally {
            adding--;
            if (isLive() && !containers.has(this)) {
              containers.add(this);
              findings.carefully(() => found(this as WinstonContainer, findings, path));
            }
          }
        };
      }),
    ]);
  },
  meet(exports, findings, path) {
    const { Logger, loggers, child } = exports as Winston;
    if (typeof child !== "function") return () => {};
    if (loggers.loggers.size > 0) findings.carefully(() => found(loggers, findings, path));
    const meet = (logger: object) => found(ownerOf(logger), findings, path);
    return undoing(
      ["_transform", "child"].map((key) => onSight(Logger.prototype, key, findings, meet, { again: true })),
    );
  },
  inHeap: {
    classes: { Logger: ["child", "configure", "setLevels", "startTimer", "unhandleExceptions"] },
    exports: (prototype) => ({ Logger: { prototype }, Container: { prototype: {} }, child: () => Object.create({}) }),
  },
  recognize(object, findings, path) {
    const { transports } = object as { readonly transports?: unknown };
    // The default logger that is not used has none.
    if (!Array.isArray(transports) || transports.length === 0) return false;
    found(object as WinstonLogger, findings, path, { isEachFound: true });
    return true;
  },
};

/** The logger that a child was made of, which alone is a stream of its own. */
function ownerOf(logger: object): WinstonLogger {
  let at = logger;
  while (!Object.hasOwn(at, "_readableState")) at = Object.getPrototypeOf(at) as object;
  return at as WinstonLogger;
}
