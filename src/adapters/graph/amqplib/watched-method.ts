import type { Making } from "../../kit/interception/replaced-method.ts";

/** Whether somebody watches still. */
export interface Watching {
  live: boolean;
}

/** Told of a request that the broker has agreed to. */
export type Agreement = (args: readonly unknown[], reply: unknown) => void;

/**
 * Requests to the broker, each of which tells once the broker has agreed. The callback interface takes its callback at `slot`;
 * the promise interface has no such argument, and ignores it.
 *
 * A promise comes back as one that settles the same way: watching it aside would mark its rejection as handled.
 */
export function requests(watching: Watching): (slot: number, agreed: Agreement) => Making {
  return (slot, agreed) => (method) =>
    function (this: unknown, ...args) {
      if (!watching.live) return Reflect.apply(method, this, args);
      const tell = (reply: unknown) => {
        if (watching.live) agreed(given, reply);
      };
      const given = args.slice();
      const callback = args[slot];
      while (args.length < slot) args.push(undefined);
      args[slot] = function (this: unknown, ...results: unknown[]) {
        if (!results[0]) tell(results[1]);
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      };
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise)) return result;
      return result.then((reply) => {
        tell(reply);
        return reply;
      });
    };
}

/** Methods that settle messages at once, each of which tells when the library has taken it. They have three arguments at most. */
export function settlements(watching: Watching): (settle: (...args: unknown[]) => void) => Making {
  return (settle) => (method) =>
    function (this: unknown, first, second, third) {
      const result = method.call(this, first, second, third);
      if (watching.live) settle(first, second, third);
      return result;
    };
}
