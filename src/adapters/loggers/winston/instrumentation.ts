import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import { type Gate, groupOf, placeGate } from "./logger-group.ts";
import type { NativeLogger, WinstonContainer } from "./native.ts";

/** What an adapter learns from watching a copy of winston. */
export interface WinstonObserver {
  /**
   * A logger was made, or configured again. Right after the call winston adds its methods named for levels. `id` is the
   * logger's key in a container. `own` says whether it was given a level.
   */
  loggerMade(logger: NativeLogger, id: string | undefined, own: boolean): void;
  /** The name of a child, from its metadata; undefined if it has none. */
  nameOf(metadata: Readonly<Record<string, unknown>>): string | undefined;
  /** A child with a name was made. All children of one name below the same logger have one gate. */
  childMade(gate: Gate, name: string): void;
}

/** The id of the logger that a container is making right now. */
let pendingId: string | undefined;

/**
 * The instrumentation of the prototype that all loggers of a copy of winston inherit from. Each logger is configured by a
 * method of the prototype when it is made; the instrumentation also keeps up with transports that come and go.
 */
export const loggerInstrumentation = oncePer((prototype: NativeLogger) => new LoggerInstrumentation(prototype));

class LoggerInstrumentation extends Instrumentation<WinstonObserver> {
  readonly #prototype: NativeLogger;

  constructor(prototype: NativeLogger) {
    super();
    this.#prototype = prototype;
  }

  protected install(): () => void {
    const { observers } = this;
    const configure = placeMethod(this.#prototype, "configure", (original) => {
      return function (this: unknown, ...values) {
        const id = pendingId;
        pendingId = undefined;
        original.apply(this, values);
        const own = (values[0] as { level?: unknown } | undefined)?.level !== undefined;
        for (const observer of observers) observer.loggerMade(this as NativeLogger, id, own);
      };
    });
    const child = placeMethod(this.#prototype, "child", (original) => {
      return function (this: unknown, ...values) {
        const made = original.apply(this, values) as NativeLogger;
        for (const observer of observers) {
          const name = observer.nameOf((values[0] as Record<string, unknown> | undefined) ?? {});
          if (name !== undefined) observer.childMade(placeGate(made, name), name);
        }
        return made;
      };
    });
    const transports = ["pipe", "unpipe"].map((name) =>
      placeMethod(this.#prototype, name, (original) => {
        return function (this: unknown, ...values) {
          const result = original.apply(this, values);
          groupOf(this as NativeLogger)?.look();
          return result;
        };
      }),
    );
    return undoing([configure, child, ...transports]);
  }
}

/** The instrumentation of a container's class: it lets the loggers that containers make be known by their ids. */
export function containerInstrumentation(container: WinstonContainer): Instrumentation<WinstonObserver> {
  let prototype = Object.getPrototypeOf(container) as WinstonContainer;
  while (!Object.hasOwn(prototype, "add")) prototype = Object.getPrototypeOf(prototype) as WinstonContainer;
  return ofContainerClass(prototype);
}

class ContainerInstrumentation extends Instrumentation<WinstonObserver> {
  readonly #prototype: WinstonContainer;

  constructor(prototype: WinstonContainer) {
    super();
    this.#prototype = prototype;
  }

  protected install(): () => void {
    const { observers } = this;
    return placeMethod(this.#prototype, "add", (original) => {
      return function (this: unknown, ...values) {
        const [id, options] = values as [unknown, { level?: unknown }?];
        const container = this as WinstonContainer;
        if (typeof id !== "string" || container.loggers.has(id)) return original.apply(this, values);
        pendingId = id;
        try {
          const made = original.apply(this, values);
          const own = (options ?? container.options)?.level !== undefined;
          // The first logger that an observer learns of is seen nowhere else.
          for (const observer of observers) observer.loggerMade(made as NativeLogger, id, own);
          return made;
        } finally {
          pendingId = undefined;
        }
      };
    });
  }
}

const ofContainerClass = oncePer((prototype: WinstonContainer) => new ContainerInstrumentation(prototype));
