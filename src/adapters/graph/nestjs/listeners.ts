import type { GraphLink } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { timedCall } from "../../kit/interception/replaced-method.ts";
import { watchedEmitters, wildcardDelimiter } from "../../kit/messaging/emitter-target.ts";
import { type EventChannel, EventChannels, isEventPattern, matchesEvent } from "../../kit/messaging/event-channels.ts";
import { type Component, methodNames } from "./container.ts";
import { metadataOf } from "./metadata.ts";
import { isEmitter2, type Port, portNames } from "./ports.ts";
import type { Site } from "./site.ts";

/** So many events have nodes of their own. */
const MAX_EVENTS = 200;

/** Methods that listen to events of @nestjs/event-emitter, `Class.method`, and what is emitted. */
export function watchListeners(site: Site, components: readonly Component[], ports: readonly Port[]): void {
  const emitter = ports.find(({ kind }) => kind === "emitter")?.object;
  if (emitter === undefined || !isEmitter2(emitter)) return;
  watchedEmitters.enter(emitter);
  site.atEnd(() => watchedEmitters.leave(emitter));
  const delimiter = wildcardDelimiter(emitter);
  const channels = new EventChannels(site.host, "events", MAX_EVENTS);
  // As long as `emit` runs: listeners are called meanwhile.
  let emitting: EventChannel | undefined;

  for (const component of components) {
    for (const name of methodNames(component)) {
      const events = eventsOf(metadataOf("onEvent", Reflect.get(component.holder, name)), delimiter);
      if (events.length === 0) continue;
      const node = site.endpoint({
        name: `${component.type.name}.${name}`,
        pattern: "service_activator",
        componentType: "nest:listener",
        properties: { events, injected: portNames(component) },
      });
      const inputs = new Map<EventChannel, GraphLink | undefined>();
      for (const event of events) {
        const channel = channels.listened(event);
        inputs.set(channel, site.host.link(channel.node, "input", node));
      }
      site.handle(component, name, node, [...inputs.values()], () => emitting && inputOf(inputs, emitting, delimiter));
    }
  }

  for (const name of ["emit", "emitAsync"]) {
    site.replace(emitter, name, (method) => {
      return function (this: unknown, ...args) {
        const event = args[0];
        if (event === "newListener" || event === "removeListener") return Reflect.apply(method, this, args);
        const channel = channels.emitted(Array.isArray(event) ? event.join(delimiter ?? ".") : event);
        if (delimiter !== undefined) for (const route of channels.routes(channel, delimiter)) route.tally.count++;
        const outer = emitting;
        emitting = channel;
        return timedCall(method, this, args, (call) => {
          emitting = outer;
          site.host.sent(channel.node, call);
        });
      };
    });
  }
}

function inputOf(inputs: ReadonlyMap<EventChannel, GraphLink | undefined>, emitting: EventChannel, delimiter = "") {
  if (inputs.has(emitting)) return inputs.get(emitting);
  if (delimiter === "") return undefined;
  for (const [{ event }, link] of inputs) {
    if (isEventPattern(event, delimiter) && matchesEvent(event, emitting.event, delimiter)) return link;
  }
  return undefined;
}

/** One decorator may name several events, and a method may have several decorators. */
function eventsOf(metadata: unknown, delimiter = "."): readonly string[] {
  const all = Array.isArray(metadata) ? metadata : metadata === undefined ? [] : [metadata];
  const events = all.flatMap((one) => {
    const event = field(one, "event");
    // An array names the parts of one event, to an emitter with wildcards.
    if (Array.isArray(event)) return [event.map(String).join(delimiter)];
    return typeof event === "symbol" || event === undefined ? [] : [String(event)];
  });
  return [...new Set(events)];
}
