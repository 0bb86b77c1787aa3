import type { Log4js, NativeLevel } from "./native.ts";

/** Hears of a call: of which category, at which level, and whether its level lets it through. */
export type CallListener = (category: string, level: NativeLevel, enabled: boolean) => void;

interface NativeLogger {
  readonly category: string;
}

type Method = (this: NativeLogger, ...values: unknown[]) => unknown;
type Prototype = Record<string, Method>;

interface Listening {
  readonly listeners: Set<CallListener>;
  stop(): void;
}

const listenings = new WeakMap<Prototype, Listening>();

/**
 * Tells of every call of a copy of log4js until the returned function is called. Every call asks its logger whether its level
 * is enabled, and is over with asking before it writes: so nothing new stands on the stack whose lines log4js may record. That
 * the application asks the same, by `isDebugEnabled()` or by a level's name, is told apart.
 */
export function listenToCalls(log4js: Log4js, listener: CallListener): () => void {
  const prototype = Object.getPrototypeOf(log4js.getLogger()) as Prototype;
  const listening = listenings.get(prototype) ?? listen(prototype);
  listening.listeners.add(listener);
  return () => {
    listening.listeners.delete(listener);
    if (listening.listeners.size === 0) listening.stop();
  };
}

function listen(prototype: Prototype): Listening {
  const listeners = new Set<CallListener>();
  const undo: (() => void)[] = [];
  let application = false;

  function replace(name: string, around: (original: Method) => Method): void {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    const mine = around(descriptor.value as Method);
    Object.defineProperty(prototype, name, { ...descriptor, value: mine });
    undo.push(() => {
      if (prototype[name] === mine) Object.defineProperty(prototype, name, descriptor);
    });
  }

  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name === "isLevelEnabled" || !/^is.+Enabled$/.test(name)) continue;
    replace(name, (original) => {
      return function (...values) {
        application = true;
        try {
          return original.apply(this, values);
        } finally {
          application = false;
        }
      };
    });
  }
  replace("isLevelEnabled", (original) => {
    return function (...values) {
      const enabled = original.apply(this, values);
      const [level] = values;
      if (!application && typeof level === "object" && level !== null) {
        for (const listener of listeners) listener(this.category, level as NativeLevel, enabled === true);
      }
      return enabled;
    };
  });
  const listening: Listening = {
    listeners,
    stop() {
      listenings.delete(prototype);
      for (const restore of undo) restore();
    },
  };
  listenings.set(prototype, listening);
  return listening;
}
