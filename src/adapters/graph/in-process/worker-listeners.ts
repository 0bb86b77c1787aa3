import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { changeListeners, type Emitter, type Listener } from "../../kit/messaging/emitter-target.ts";
import { originalOf, rawListener } from "./event-listeners.ts";

/** Measures listeners, and finds what is called in the place of one. */
export interface Measuring {
  readonly measured: (listener: Listener) => Listener;
  readonly find: (listener: Listener) => Listener | undefined;
}

/** Measures the listeners to the messages of a worker, which is an emitter of events. */
export function watchWorkerMessages(worker: Emitter, { measured, find }: Measuring): () => void {
  const change = (of: (listener: Listener) => Listener, [event, listener, ...rest]: unknown[]) => [
    event,
    event === "message" && typeof listener === "function" ? of(listener as Listener) : listener,
    ...rest,
  ];
  const registered = (listener: Listener) =>
    originalOf(listener) === listener ? listener : (find(listener) ?? listener);
  const adding = (method: Method): Method =>
    function (this: unknown, ...args) {
      return Reflect.apply(method, this, change(measured, args));
    };
  const removing = (method: Method): Method =>
    function (this: unknown, ...args) {
      return Reflect.apply(method, this, change(registered, args));
    };
  changeListeners(worker, (event, listener) => (event === "message" ? measured(listener) : listener));
  return undoing([
    () => changeListeners(worker, (_, listener) => rawListener(listener)),
    ...["on", "addListener", "prependListener"].map((name) => replaceMethod(worker, name, adding)),
    ...["off", "removeListener"].map((name) => replaceMethod(worker, name, removing)),
  ]);
}
