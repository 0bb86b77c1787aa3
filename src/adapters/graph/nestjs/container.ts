import { described } from "../../../common/described.ts";
import { ActuatorError } from "../../../common/error.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import { type Emitter, isEmitter } from "../../kit/messaging/emitter-target.ts";

/** An application or a microservice of NestJS: what `NestFactory` makes. */
export interface NestApplication {
  // biome-ignore lint/suspicious/noExplicitAny: of all versions of NestJS.
  get(...args: any[]): any;
  init(): Promise<unknown>;
}

/** A class of the application's. */
export type Class = abstract new (...args: never[]) => object;

/** A class of the application, as the container of NestJS holds it. */
export interface Component {
  readonly type: Class;
  readonly instance: object | undefined;
  readonly controller: boolean;
  /** Where its methods are found: at its one instance, or at its prototype where there is one for each request. */
  readonly holder: object;
  /** What is injected into its constructor and properties. */
  readonly dependencies: readonly object[];
}

/** A server of messages: what `connectMicroservice` makes of a transport. */
interface NestServer {
  readonly transportId?: unknown;
  readonly options?: unknown;
}

/** An InstanceWrapper, as far as it is used here. */
interface Wrapper {
  readonly instance?: unknown;
  readonly metatype?: unknown;
  readonly inject?: unknown;
  readonly isAlias?: boolean;
  isDependencyTreeStatic(): boolean;
  getCtorMetadata?(): readonly (Wrapper | undefined)[] | undefined;
  getPropertiesMetadata?(): readonly { readonly wrapper?: Wrapper }[] | undefined;
}

interface Module {
  readonly providers: ReadonlyMap<unknown, Wrapper>;
  readonly controllers: ReadonlyMap<unknown, Wrapper>;
}

/**
 * The components of an application, each once.
 *
 * @throws ActuatorError INVALID_ARGUMENT if it is not an application of NestJS.
 */
export function componentsOf(app: unknown): readonly Component[] {
  const components = new Map<object, Component>();
  for (const { providers, controllers } of modulesOf(app)) {
    for (const [wrappers, controller] of [
      [controllers, true],
      [providers, false],
    ] as const) {
      for (const wrapper of wrappers.values()) {
        const component = wrapper.isAlias ? undefined : componentOf(wrapper, controller);
        if (component !== undefined && !components.has(component.holder)) components.set(component.holder, component);
      }
    }
  }
  return [...components.values()];
}

/** What is connected to the application by `connectMicroservice`. */
export function microservicesOf(app: object): readonly object[] {
  const getMicroservices: unknown = Reflect.get(app, "getMicroservices");
  const connected: unknown = typeof getMicroservices === "function" ? Reflect.apply(getMicroservices, app, []) : [];
  return Array.isArray(connected) ? connected.filter(isObject) : [];
}

/** The servers of messages that the application has: those connected to it, or itself where it is a microservice. */
export function serversOf(app: object): readonly NestServer[] {
  return [app, ...microservicesOf(app)].map((one) => field(one, "serverInstance")).filter(isObject);
}

/** The names of the methods that the objects of a class have. */
export function methodNames({ type }: Component): readonly string[] {
  const names = new Set<string>();
  for (let at: unknown = type.prototype; isObject(at) && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}

/** Whether a value is an object, and not a function: a provider may be one, whose members are not the application's. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Does not use NestJS's own services, because their classes belong to the application's copy of NestJS. */
function modulesOf(app: unknown): readonly Module[] {
  const container = field(app, "container");
  const getModules = field(container, "getModules");
  const modules = typeof getModules === "function" ? Reflect.apply(getModules, container, []) : undefined;
  if (modules instanceof Map) return [...modules.values()];
  const message = `nestjsSource() expects an application of NestJS, such as NestFactory.create(AppModule), got ${described(app)}`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_TARGET", message);
}

function componentOf(wrapper: Wrapper, controller: boolean): Component | undefined {
  const instance = isObject(wrapper.instance) ? wrapper.instance : undefined;
  const made = wrapper.inject || typeof wrapper.metatype !== "function" ? instance?.constructor : wrapper.metatype;
  if (typeof made !== "function" || !isObject(made.prototype)) return undefined;
  const isStatic = instance !== undefined && wrapper.isDependencyTreeStatic();
  if (isStatic && !Object.isExtensible(instance)) return undefined;
  return {
    type: made as unknown as Class,
    instance: isStatic ? instance : undefined,
    controller,
    holder: isStatic ? instance : made.prototype,
    dependencies: [
      ...(wrapper.getCtorMetadata?.() ?? []),
      ...(wrapper.getPropertiesMetadata?.() ?? []).map((property) => property.wrapper),
    ]
      .map((dependency) => dependency?.instance)
      .filter(isObject),
  };
}

/**
 * What the decorators of NestJS and its modules leave on classes and methods. These names are no public interface: they are those
 * of NestJS 12 and 11, @nestjs/cqrs, @nestjs/microservices, @nestjs/bullmq, @nestjs/schedule and @nestjs/event-emitter.
 */
const METADATA = {
  /** On classes. */
  commandHandler: "__commandHandler__",
  queryHandler: "__queryHandler__",
  eventsHandler: "__eventsHandler__",
  sagas: "__saga__",
  processor: "bullmq:processor_metadata",
  worker: "bullmq:worker_metadata",
  /** On methods. */
  pattern: "microservices:pattern",
  transport: "microservices:transport",
  handlerType: "microservices:handler_type",
  onEvent: "EVENT_LISTENER_METADATA",
  cron: "SCHEDULE_CRON_OPTIONS",
  interval: "SCHEDULE_INTERVAL_OPTIONS",
  timeout: "SCHEDULE_TIMEOUT_OPTIONS",
  /** On controllers and their methods. */
  path: "path",
  method: "method",
} as const;

/** What `reflect-metadata` adds, which every application of NestJS loads. */
interface ReflectMetadata {
  getMetadata?(key: unknown, target: object): unknown;
  getMetadataKeys?(target: object): unknown[];
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

const reflect = Reflect as ReflectMetadata;

/** What a class or a method is decorated with; undefined where it is not. */
export function metadataOf(key: keyof typeof METADATA, target: unknown): unknown {
  if (typeof target !== "function") return undefined;
  return reflect.getMetadata?.(METADATA[key], target);
}

/** Decorates the function that replaces a method as the method is. */
export function copyMetadata(from: object, to: object): void {
  for (const key of reflect.getMetadataKeys?.(from) ?? []) {
    reflect.defineMetadata?.(key, reflect.getMetadata?.(key, from), to);
  }
}

/** An object that functions can send with, found in the container of NestJS. */
export interface Port {
  readonly kind: "command-bus" | "query-bus" | "event-bus" | "emitter" | "client" | "queue";
  readonly object: object;
}

/** The methods of each kind: classes belong to the application's copies of the libraries, and some share their names. */
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

/** The names of the objects injected into a component that it can send with. */
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
