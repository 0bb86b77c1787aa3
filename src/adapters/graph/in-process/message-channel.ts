import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Watch } from "../../../integration-graph/watching-adapter.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { type TimedCall, timedCall } from "../../kit/interception/timed-call.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";
import {
  type InProcessAdapter,
  type InProcessOptions,
  inProcessAdapter,
  WatchedObjects,
} from "../../kit/messaging/in-process-adapter.ts";
import { EventListeners } from "./event-listeners.ts";
import { watchEventTarget } from "./event-target-listeners.ts";
import {
  type Directions,
  directionsOf,
  isBroadcast,
  isEventTargetEnd,
  isMessageTarget,
  isWorker,
  type MessageTarget,
} from "./message-target.ts";
import { watchWorkerMessages } from "./worker-listeners.ts";

const watched = new WatchedObjects("end of a channel");

/**
 * The messages of ports, workers and BroadcastChannels: `flow.attach(messageChannel(worker, { name: "images" }))`.
 *
 * - There is a channel for each direction, named for the end that its messages come to: `images.worker` and `images.parent` for a
 *   worker, and for `parentPort` within it; `images.port1` and `images.port2` for a MessageChannel, whose two ports are watched;
 *   `images.sent` and `images.received` for a port alone; `images` for a BroadcastChannel.
 * - A message is sent when `postMessage` takes it, and fails where that throws. It is handled once by each listener, a service
 *   activator by the name of its function, `images.parent.store`, or `images.parent.listener`; also `onmessage`.
 * - Listening starts a port, and keeps its thread alive, as before; the adapter itself never listens.
 * - What was added to a port before it is watched is not measured, except `onmessage`. A port that was sent away is watched no more.
 *
 * Throws a TypeError where a target is none of these, or watched already.
 */
export function messageChannel(
  targets: MessageTarget | readonly MessageTarget[],
  options: InProcessOptions,
): InProcessAdapter<MessageTarget> {
  const checked = (target: unknown) => {
    if (isMessageTarget(target)) return;
    throw new TypeError("messageChannel() watches ports, workers and broadcast channels, and got something else");
  };
  const given = Array.isArray(targets) ? targets : [targets];
  return inProcessAdapter<MessageTarget>(given, options, checked, (host) => watchChannels(host, options.name));
}

function watchChannels(host: GraphHost, name: string): Watch<MessageTarget> {
  const listeners = new EventListeners(host);
  const targets = new Map<object, () => void>();

  function channel(direction: string, broadcast: boolean): GraphNode {
    const called = `${name}${direction}`;
    return host.declare({
      name: called,
      pattern: broadcast ? "publish_subscribe_channel" : "message_channel",
      componentType: broadcast ? "node:broadcast-channel" : "node:message-channel",
      key: channelKey(SYSTEM, host.app, "message-channel", called),
    });
  }

  function watchEnd({ end, to, from }: Directions, broadcast: boolean): () => void {
    const [outgoing, incoming] = [channel(to, broadcast), { node: channel(from, broadcast) }];
    const posted = (call: TimedCall) => host.sent(outgoing, call);
    const posting = (method: Method): Method =>
      function postMessage(this: unknown, ...args) {
        return timedCall(method, this, args, posted);
      };
    const measured = listeners.measured.bind(listeners, incoming);
    const find = listeners.find.bind(listeners, incoming);
    const stop = isWorker(end)
      ? watchWorkerMessages(end, { measured, find })
      : isEventTargetEnd(end)
        ? watchEventTarget(end, measured)
        : () => {};
    return undoing([stop, replaceMethod(end, "postMessage", posting)]);
  }

  return {
    add(target) {
      const directions = directionsOf(target);
      for (const { end } of directions) {
        watched.enter(end);
        targets.set(end, () => {});
      }
      for (const direction of directions) targets.set(direction.end, watchEnd(direction, isBroadcast(target)));
    },
    end() {
      for (const [end, unwatch] of targets) {
        unwatch();
        watched.leave(end);
      }
      targets.clear();
    },
  };
}
