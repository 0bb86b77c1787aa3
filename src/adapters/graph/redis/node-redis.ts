import { field, hasMethods } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import type { Parts, WatchedClient } from "./client.ts";
import type { Ended } from "./commands.ts";
import { watchSubscriptions } from "./node-redis-subscriptions.ts";
import type { RedisMessagingClient } from "./target.ts";

/**
 * Watches a client of node-redis. What `createClient` gives is one of several faces of an inner client, and that is what is
 * watched: every command passes through its `sendCommand`, except those of a transaction or pipeline.
 */
export function watchNodeRedis(client: RedisMessagingClient, parts: Parts): WatchedClient {
  const { commands } = parts;
  const inner = (field(client, "_self") as object | undefined) ?? client;
  let db = Number(field(field(client, "options"), "database") ?? 0) || 0;
  let live = true;

  const begin = (args: unknown): Ended | undefined => {
    if (!Array.isArray(args)) return undefined;
    const name = typeof args[0] === "string" ? args[0] : String(args[0]);
    return commands.begin(name, () => args.slice(1), db);
  };

  const sending = (method: Method): Method =>
    function sendCommand(this: unknown, ...args) {
      const ended = begin(args[0]);
      const selected = isSelect(args[0]) ? Number(args[0][1]) : undefined;
      const result = Reflect.apply(method, this, args);
      if ((ended === undefined && selected === undefined) || !(result instanceof Promise)) return result;
      return result.then(
        (reply) => {
          if (selected !== undefined) db = selected;
          if (live) ended?.(false, reply);
          return reply;
        },
        (error) => {
          if (live) ended?.(true, undefined);
          throw error;
        },
      );
    };

  const multi = (method: Method): Method =>
    function multi(this: unknown, ...args) {
      const made = Reflect.apply(method, this, args);
      if (live && hasMethods(made, "exec", "addCommand")) watchMulti(made as object, begin, () => live);
      return made;
    };

  const restore = replaceMethods(inner, { sendCommand: sending, multi, MULTI: multi });
  const subscriptions = watchSubscriptions(client, inner, parts.subscribers);

  return {
    isReady: () => field(client, "isReady") === true,
    isSubscribing: () => field(client, "isPubSubActive") === true,
    db: () => db,
    send: (...command) => Reflect.apply(client.sendCommand, client, [command]),
    sync: subscriptions.sync,
    unwatch() {
      live = false;
      restore();
      subscriptions.unwatch();
    },
  };
}

/** A transaction, or a pipeline: its messages are sent when it is executed. It lives as long as the application holds it. */
function watchMulti(made: object, begin: (args: unknown) => Ended | undefined, isLive: () => boolean): void {
  const commands: unknown[] = [];
  const adding = (method: Method): Method =>
    function addCommand(this: unknown, ...args) {
      commands.push(args[0]);
      return Reflect.apply(method, this, args);
    };
  const executing = (method: Method): Method =>
    function exec(this: unknown, ...args) {
      // One way to execute calls another one.
      const all = isLive() ? commands.splice(0).map(begin) : [];
      const result = Reflect.apply(method, this, args);
      if (!all.some((ended) => ended !== undefined) || !(result instanceof Promise)) return result;
      return result.then(
        (replies) => {
          if (isLive()) for (const ended of all) ended?.(false, undefined);
          return replies;
        },
        (error) => {
          const replies = field(error, "replies");
          const known = Array.isArray(replies) && replies.length === all.length ? replies : undefined;
          if (isLive()) {
            for (const [at, ended] of all.entries())
              ended?.(known === undefined || known[at] instanceof Error, undefined);
          }
          throw error;
        },
      );
    };
  replaceMethods(made, {
    addCommand: adding,
    sendCommand: adding,
    exec: executing,
    EXEC: executing,
    execTyped: executing,
    execAsPipeline: executing,
    execAsPipelineTyped: executing,
  });
}

function isSelect(args: unknown): args is readonly unknown[] {
  return Array.isArray(args) && (args[0] === "SELECT" || args[0] === "select");
}
