import { type Component, methodNames } from "./container.ts";
import { metadataOf } from "./metadata.ts";
import { portNames } from "./ports.ts";
import type { Site } from "./site.ts";

/** By their numbers in NestJS. */
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "ALL", "OPTIONS", "HEAD", "SEARCH"];

/** Methods that answer HTTP requests, `Class.method`. They bring messages in; how they fare is no matter of messages. */
export function watchRoutes(site: Site, controllers: readonly Component[]): void {
  for (const component of controllers) {
    const prefixes = paths(metadataOf("path", component.type));
    for (const name of methodNames(component)) {
      const method: unknown = Reflect.get(component.holder, name);
      const own = metadataOf("path", method);
      if (own === undefined) continue;
      const routes = prefixes.flatMap((prefix) => paths(own).map((path) => joined(prefix, path)));
      const verb = METHODS[Number(metadataOf("method", method))];
      const node = site.endpoint({
        name: `${component.type.name}.${name}`,
        pattern: "inbound_gateway",
        componentType: "nest:route",
        properties: { ...(verb !== undefined && { method: verb }), paths: routes, injected: portNames(component) },
      });
      site.wrap(component, name, (handler) => {
        return function route(this: unknown, ...args) {
          return site.host.within(node, () => Reflect.apply(handler, this, args));
        };
      });
    }
  }
}

function paths(path: unknown): readonly string[] {
  return [path ?? ""].flat().map(String);
}

function joined(...parts: readonly string[]): string {
  return `/${parts
    .flatMap((part) => part.split("/"))
    .filter((part) => part !== "")
    .join("/")}`;
}
