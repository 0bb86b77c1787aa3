import { field, hasMethods } from "../../kit/interception/field.ts";
import { type Emitter, isEmitter } from "../../kit/messaging/emitter-target.ts";
import type { Component } from "./container.ts";

/** What a function can send by, found in the container of NestJS. */
export interface Port {
  readonly kind: "command-bus" | "query-bus" | "event-bus" | "emitter" | "client" | "queue";
  readonly object: object;
}

/** By what they can do: their classes belong to the application's copies of the libraries, and some share their names. */
const METHODS: { readonly [K in Port["kind"]]: readonly string[] } = {
  "command-bus": ["execute", "registerHandler", "reflectCommandId"],
  "query-bus": ["execute", "registerHandler", "reflectQueryId"],
  "event-bus": ["publish", "publishAll", "registerSagas"],
  emitter: ["emit", "emitAsync", "onAny", "eventNames"],
  client: ["send", "emit", "connect", "publish", "dispatchEvent", "normalizePattern"],
  queue: ["add", "addBulk", "getJobCounts"],
};

export function portsOf(objects: Iterable<object>): readonly Port[] {
  return [...new Set(objects)].flatMap((object) => {
    const kind = (Object.keys(METHODS) as Port["kind"][]).find((name) => hasMethods(object, ...METHODS[name]));
    return kind === undefined ? [] : [{ kind, object }];
  });
}

export function isEmitter2(object: object): object is Emitter {
  return isEmitter(object);
}

/** The components that a port is injected into, directly or through others that the application provides. */
export function senders(components: readonly Component[], ports: readonly Port[]): ReadonlySet<Component> {
  const objects = new Set(ports.map(({ object }) => object));
  const byInstance = new Map(components.map((component) => [component.instance ?? component.holder, component]));
  const found = new Map<Component, boolean>();
  function sends(component: Component): boolean {
    const known = found.get(component);
    if (known !== undefined) return known;
    // Components may need each other.
    found.set(component, false);
    const result = component.dependencies.some((dependency) => {
      if (objects.has(dependency)) return true;
      const next = byInstance.get(dependency) ?? byInstance.get(Object.getPrototypeOf(dependency));
      return next !== undefined && sends(next);
    });
    found.set(component, result);
    return result;
  }
  return new Set(components.filter(sends));
}

/** What is injected into a component that it may send by, as an operator calls it. */
export function portNames({ dependencies }: Component): readonly string[] {
  return portsOf(dependencies).map(({ kind, object }) => {
    const name = field(object, kind === "client" ? "queue" : "name");
    const text = {
      "command-bus": "CommandBus",
      "query-bus": "QueryBus",
      "event-bus": "EventBus",
      emitter: "EventEmitter2",
    };
    if (kind in text) return text[kind as keyof typeof text];
    const type = object.constructor.name;
    return typeof name === "string" && name !== "" ? `${type} ${name}` : type;
  });
}
