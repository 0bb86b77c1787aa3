import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { type Component, copyMetadata } from "./container.ts";

/** A function of the application, before it is a node. */
export interface EndpointDescription {
  readonly name: string;
  readonly pattern: EndpointPattern;
  readonly componentType: string;
  readonly properties?: Properties | undefined;
}

/** One application of NestJS, watched for one graph: what was changed in it, and how to restore it. */
export class Site {
  readonly host: GraphHost;
  readonly #undo: (() => void)[] = [];

  constructor(host: GraphHost) {
    this.host = host;
  }

  endpoint({ name, pattern, componentType, properties }: EndpointDescription): GraphNode {
    const key = endpointKey(this.host.app, pattern, name);
    return this.host.declare({ name, pattern, componentType, properties, key });
  }

  /** Replaces a method of a component by `make(method)`, with the same decorators. */
  wrap({ holder }: Component, name: string, make: (method: Method) => Method): void {
    const method: unknown = Reflect.get(holder, name);
    this.replace(holder, name, make);
    const made: unknown = Reflect.get(holder, name);
    if (typeof method === "function" && typeof made === "function") copyMetadata(method, made);
  }

  /** Replaces a method of an object that is not a component of the application. */
  replace(object: object, name: string, make: (method: Method) => Method): void {
    this.#undo.push(replaceMethod(object, name, make));
  }

  /** Restores something else at the end. */
  atEnd(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Measures a method as a handler of `node`. If it has several inputs, `input` returns the one that a call came by. */
  handle(
    component: Component,
    name: string,
    node: GraphNode,
    inputs: readonly (GraphLink | undefined)[],
    input: (args: readonly unknown[]) => GraphLink | undefined = () => undefined,
  ): void {
    this.wrap(component, name, (method) => {
      if (inputs.length <= 1) return this.host.handler(node, method as never, { input: inputs[0] });
      const plain = this.host.handler(node, method as never) as Method;
      const measured = new Map(
        inputs.map((link) => [link, this.host.handler(node, method as never, { input: link }) as Method]),
      );
      function handled(this: unknown, ...args: unknown[]): unknown {
        return Reflect.apply(measured.get(input(args)) ?? plain, this, args);
      }
      return Object.defineProperties(handled, Object.getOwnPropertyDescriptors(method)) as Method;
    });
  }

  end(): void {
    undoing(this.#undo.splice(0))();
  }
}
