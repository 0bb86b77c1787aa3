import { parentPort } from "node:worker_threads";
import { hasMethods } from "../../kit/interception/field.ts";
import type { Emitter } from "../../kit/messaging/emitter-target.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of ports, workers and broadcast channels.
type Any = any;

/** A port, a worker, or a BroadcastChannel. */
export interface MessageEnd {
  postMessage(...args: Any[]): Any;
}

/** Both ends of a channel: what `new MessageChannel()` makes. */
export interface BothPorts {
  readonly port1: MessageEnd;
  readonly port2: MessageEnd;
}

/** What messages between threads go through. */
export type MessageTarget = MessageEnd | BothPorts;

/** An end of a channel that calls its listeners as the DOM does: all but a worker. */
export interface EventTargetEnd extends MessageEnd {
  addEventListener: Any;
  removeEventListener: Any;
}

/** Where the messages go that an end sends, and where those come from that it gets: parts of the channels' names. */
export interface Directions {
  readonly end: MessageEnd;
  readonly to: string;
  readonly from: string;
}

export function isEventTargetEnd(end: unknown): end is EventTargetEnd {
  return hasMethods(end, "postMessage", "addEventListener", "removeEventListener");
}

export function isWorker(end: unknown): end is MessageEnd & Emitter {
  return hasMethods(end, "postMessage", "terminate", "emit", "on", "removeListener");
}

export function isMessageTarget(target: unknown): target is MessageTarget {
  return isEnd(target) || isBothPorts(target);
}

/** A channel is named for the end that its messages come to. All listeners of a broadcast hear what any of them says. */
export function directionsOf(target: MessageTarget): readonly Directions[] {
  if (isBothPorts(target)) {
    return [
      { end: target.port1, to: ".port2", from: ".port1" },
      { end: target.port2, to: ".port1", from: ".port2" },
    ];
  }
  if (isWorker(target)) return [{ end: target, to: ".worker", from: ".parent" }];
  if ((target as object) === parentPort) return [{ end: target, to: ".parent", from: ".worker" }];
  if (isBroadcast(target)) return [{ end: target, to: "", from: "" }];
  return [{ end: target, to: ".sent", from: ".received" }];
}

export function isBroadcast(target: MessageTarget): boolean {
  return target instanceof BroadcastChannel;
}

function isBothPorts(target: unknown): target is BothPorts {
  if (typeof target !== "object" || target === null) return false;
  return isEventTargetEnd(Reflect.get(target, "port1")) && isEventTargetEnd(Reflect.get(target, "port2"));
}

function isEnd(target: unknown): boolean {
  return isEventTargetEnd(target) || isWorker(target);
}
