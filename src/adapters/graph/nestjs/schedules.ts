import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { type Component, methodNames } from "./container.ts";
import { metadataOf } from "./metadata.ts";
import { portNames } from "./ports.ts";
import type { Site } from "./site.ts";

const KINDS = ["cron", "interval", "timeout"] as const;

/** Methods that @nestjs/schedule calls, `Class.method`. */
export function watchSchedules(site: Site, components: readonly Component[]): void {
  for (const component of components) {
    for (const name of methodNames(component)) {
      const method: unknown = Reflect.get(component.holder, name);
      for (const kind of KINDS) {
        const schedule = metadataOf(kind, method);
        if (schedule !== undefined) watchSchedule(site, component, name, kind, scheduleOf(kind, schedule));
      }
    }
  }
}

function watchSchedule(site: Site, component: Component, name: string, kind: string, properties: Properties): void {
  const { host } = site;
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "inbound_channel_adapter",
    componentType: `nest:${kind}`,
    properties: { ...properties, injected: portNames(component) },
  });
  site.wrap(component, name, (method) => {
    return function scheduled(this: unknown, ...args) {
      const start = performance.now();
      const done = (failed: boolean) => host.received(node, { start, end: performance.now(), failed });
      let result: unknown;
      try {
        result = host.within(node, () => Reflect.apply(method, this, args));
      } catch (error) {
        done(true);
        throw error;
      }
      if (!(result instanceof Promise)) {
        done(false);
        return result;
      }
      return result.then(
        (value) => {
          done(false);
          return value;
        },
        (error) => {
          done(true);
          throw error;
        },
      );
    };
  });
}

function scheduleOf(kind: (typeof KINDS)[number], schedule: unknown): Properties {
  const value = field(schedule, kind === "cron" ? "cronTime" : "timeout");
  const zone = field(schedule, "timeZone");
  return {
    [kind]: (value instanceof Date ? value.toISOString() : fit(value)) ?? null,
    ...(typeof zone === "string" && { timeZone: zone }),
  };
}

function fit(value: unknown): Properties[string] | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
