import { AsyncLocalStorage } from "node:async_hooks";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { senders } from "../../../integration-graph/senders.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import { isControl } from "./subject.ts";
import type { Subjects } from "./subjects.ts";
import type { NatsConnection, Unwatch } from "./target.ts";

/** Where the library sends and subscribes for itself, or for a message that counts elsewhere. */
export const counted = new AsyncLocalStorage<true>();

/**
 * Measures what a connection sends. All of it goes through `publish` of what the library calls its protocol, where replies are
 * seen too, since a message knows nothing else; what the connection's own methods tell more of counts there.
 */
export function watchSending(connection: NatsConnection, host: GraphHost, subjects: Subjects): Unwatch {
  const sender = senders(host);
  /** How deep we are in methods that count by themselves; all below them happens before they return. */
  let inside = 0;
  /** How many messages the library has begun to write. */
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

  /** A message is sent when the library has taken it, and fails where that throws. */
  function sending(this: void, call: () => unknown, subject: string): unknown {
    const start = performance.now();
    let failed = true;
    try {
      const result = within(call);
      failed = false;
      return result;
    } finally {
      host.sent(subjects.sentTo(subject), outcome(start, failed));
    }
  }

  /**
   * A request is sent when it is answered, and fails where it is not. Nobody has to wait for one: once it is on its way the library
   * handles its failure by itself, unless it has an inbox of its own, and so has what we give back.
   */
  function requesting(call: () => unknown, subject: string, options: unknown): unknown {
    const start = performance.now();
    const from = sender();
    const node = subjects.sentTo(subject);
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
    const answered = result.then(
      (reply) => {
        sent(false);
        return reply;
      },
      (error) => {
        sent(true);
        throw error;
      },
    );
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
