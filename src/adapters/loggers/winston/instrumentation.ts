import type { NativeLogger, WinstonContainer } from "./native.ts";
import { groupOf } from "./transport-group.ts";

/** What is told to each adapter that watches a copy of winston. */
export interface WinstonObserver {
  /**
   * A logger was made, whose methods named for levels follow at once, or one was configured again. `id`: under which a
   * container keeps it. `own`: with a level given.
   */
  loggerMade(logger: NativeLogger, id: string | undefined, own: boolean): void;
  /** A child was made, by `child()` of `parent`. */
  childMade(child: NativeLogger, parent: NativeLogger, metadata: object): void;
}

interface Instrumentation<Observer> {
  readonly observers: Set<Observer>;
  restore(): void;
}

const ofLoggers = new WeakMap<object, Instrumentation<WinstonObserver>>();
const ofContainers = new WeakMap<object, Instrumentation<object>>();

/** The id of the logger that a container is just making. */
let pendingId: string | undefined;

/**
 * Observes every logger that a copy of winston makes, and keeps up with transports that come and go, until the returned
 * function is called. All loggers inherit from the prototype given, and each is configured by its method when it is made.
 */
export function observeLoggers(prototype: NativeLogger, observer: WinstonObserver): () => void {
  return observe(ofLoggers, prototype, observer, instrumentLoggers);
}

/** Lets the loggers of every container of this copy be known by their ids, until the returned function is called. */
export function observeContainers(container: WinstonContainer): () => void {
  let prototype = Object.getPrototypeOf(container) as WinstonContainer;
  while (!Object.hasOwn(prototype, "add")) prototype = Object.getPrototypeOf(prototype) as WinstonContainer;
  return observe(ofContainers, prototype, {}, instrumentContainers);
}

function observe<Prototype extends object, Observer extends object>(
  known: WeakMap<object, Instrumentation<Observer>>,
  prototype: Prototype,
  observer: Observer,
  instrument: (prototype: Prototype, observers: Set<Observer>) => () => void,
): () => void {
  let instrumentation = known.get(prototype);
  if (instrumentation === undefined) {
    const observers = new Set<Observer>();
    instrumentation = { observers, restore: instrument(prototype, observers) };
    known.set(prototype, instrumentation);
  }
  const { observers, restore } = instrumentation;
  observers.add(observer);
  return () => {
    if (!observers.delete(observer) || observers.size > 0) return;
    known.delete(prototype);
    restore();
  };
}

function instrumentLoggers(prototype: NativeLogger, observers: Set<WinstonObserver>): () => void {
  const restores = [
    replace(
      prototype,
      "configure",
      (original) =>
        function configure(this: NativeLogger, ...values) {
          const id = pendingId;
          pendingId = undefined;
          original.apply(this, values);
          const own = (values[0] as { level?: unknown } | undefined)?.level !== undefined;
          for (const observer of observers) observer.loggerMade(this, id, own);
        },
    ),
    replace(
      prototype,
      "child",
      (original) =>
        function child(this: NativeLogger, ...values) {
          const made = original.apply(this, values) as NativeLogger;
          for (const observer of observers) observer.childMade(made, this, (values[0] as object | undefined) ?? {});
          return made;
        },
    ),
    ...["add", "remove", "clear"].map((key) =>
      replace(
        prototype,
        key,
        (original) =>
          function (this: NativeLogger, ...values) {
            const result = original.apply(this, values);
            groupOf(this)?.transportsChanged();
            return result;
          },
      ),
    ),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

function instrumentContainers(prototype: WinstonContainer): () => void {
  return replace(
    prototype,
    "add",
    (original) =>
      function add(this: WinstonContainer, ...values) {
        const [id] = values as unknown[];
        pendingId = typeof id === "string" && !this.loggers.has(id) ? id : undefined;
        try {
          return original.apply(this, values);
        } finally {
          pendingId = undefined;
        }
      },
  );
}

/** Puts another method in the place of one, and returns how to put it back. */
function replace<This extends object>(
  prototype: This,
  key: string,
  make: (original: (this: This, ...values: unknown[]) => unknown) => (this: This, ...values: unknown[]) => unknown,
): () => void {
  const before = Object.getOwnPropertyDescriptor(prototype, key)!;
  const method = make(before.value);
  Object.defineProperty(prototype, key, { ...before, value: method });
  return () => {
    if (Object.getOwnPropertyDescriptor(prototype, key)?.value === method)
      Object.defineProperty(prototype, key, before);
  };
}
