import { described } from "../../../common/described.ts";
import { ActuatorError } from "../../../common/error.ts";
import { field } from "../../kit/interception/field.ts";
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
export interface NestServer {
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

/** All that the application is made of, each once. Throws a TypeError where it is no application of NestJS. */
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

/** No function: a provider may be one, and what it is made of is not its own. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Not by its own services: their classes would have to be those of the copy of NestJS that the application has. */
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
