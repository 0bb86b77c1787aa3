import { AsyncLocalStorage } from "node:async_hooks";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { whenSettled } from "../../kit/interception/plain-promise.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { outcome } from "../../kit/messaging/delivery.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { isControl, type Subjects, SYSTEM } from "./subjects.ts";
import type { NatsConnection } from "./target.ts";

/** Set while the library sends and subscribes for itself, or for a message that is counted elsewhere. */
export const counted = new AsyncLocalStorage<true>();

/**
 * Measures what a connection sends. All of it goes through `publish` of what the library calls its protocol, which is where
 * replies are seen. What the connection's own methods know more about is counted there.
 */
export function watchSending(connection: NatsConnection, host: GraphHost, subjects: Subjects): Unwatch {
  /** The depth of calls to methods that count by themselves; what they call runs before they return. */
  let inside = 0;
  /** How many messages the library began to write. */
  let written = 0;
  const counts = (subject: unknown): subject is string =>
    inside === 0 && typeof subject === "string" && !isControl(subject) && host.counts(SYSTEM) && !counted.getStore();

  function within<R>(call: () => R): R {
    inside++;
    try {
      return call();
    } finally {
      inside--;
    }
  }

  /** A message is sent when the library has taken it, and fails if that throws. */
  function sending(this: void, call: () => unknown, subject: string): unknown {
    const start = performance.now();
    let failed = true;
    try {
      const result = within(call);
      failed = false;
      return result;
    } finally {
      host.sent(subjects.sentTo("subject", subject), outcome(start, failed));
    }
  }

  /**
   * A request is sent when it is answered, and fails if it is not. The application need not wait for it: once it is written, the
   * library handles its rejection, unless it has an inbox of its own; so the promise returned here has to be handled, too.
   */
  function requesting(call: () => unknown, subject: string, options: unknown): unknown {
    const start = performance.now();
    const from = host.currentSender;
    const node = subjects.sentTo("subject", subject);
    const sent = (failed: boolean) => host.sent(node, outcome(start, failed), from);
    const before = written;
    let result: unknown;
    try {
      result = within(call);
    } catch (error) {
      sent(true);
      throw error;
    }
    const handled = written > before && !field(options, "noMux");
    if (!(result instanceof Promise)) {
      sent(false);
      return result;
    }
    const answered = whenSettled(
      result,
      () => sent(false),
      () => sent(true),
    ) as Promise<unknown>;
    if (handled) answered.catch(() => {});
    return answered;
  }

  const protocol = field(connection, "protocol");
  const replace = (object: object, name: string, measure: typeof requesting) =>
    replaceMethod(
      object,
      name,
      (method) =>
        function (this: unknown, ...args) {
          const [subject, , options] = args;
          if (object === protocol) written++;
          const call = () => Reflect.apply(method, this, args);
          return counts(subject) ? measure(call, subject, options) : within(call);
        },
    );
  return undoing([
    replace(connection, "publish", sending),
    replace(connection, "request", requesting),
    replace(connection, "requestMany", requesting),
    ...(typeof protocol === "object" && protocol !== null ? [replace(protocol, "publish", sending)] : []),
  ]);
}
