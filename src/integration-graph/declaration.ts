import { invalidDeclaration } from "./invalid.ts";
import { MAX_KEY_LENGTH, redactedKey } from "./node-id.ts";
import { isPattern, type PatternType } from "./pattern.ts";
import { checkedProperties, type Properties } from "./properties.ts";
import { redact } from "./redact.ts";

/** A member of a chain: its name and its component type. */
export interface ChainHandler {
  readonly name: string;
  readonly type: string;
}

/** What a component is, before it is a node of a graph. */
export interface NodeDeclaration {
  readonly name: string;
  readonly pattern: PatternType;
  /** Lower-case, hyphenated words. Left out: follows from the pattern. */
  readonly componentType?: string | undefined;
  /** JSON values; never a payload, key, header or credential of a message. */
  readonly properties?: Properties | undefined;
  /** The members of a chain, in order. */
  readonly handlers?: readonly ChainHandler[] | undefined;
  /** The canonical key, if the declarer knows a better one than that derived from pattern and name. */
  readonly key?: string | undefined;
}

/** The longest name, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 256;

/**
 * Cuts a name to the longest that a graph shows. The beginning stays, which says what it belongs to.
 *
 * @example
 * ```ts
 * const name = shortened(`${queue}.${functionName}`);
 * ```
 */
export function shortened(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const COMPONENT_TYPE = /^[a-z][a-z0-9]*(?:[-:.][a-z0-9]+)*$/;

/**
 * `name` as a graph may show it, without credentials in URLs.
 *
 * @throws ActuatorError INVALID_ARGUMENT if it is empty, longer than {@link MAX_NAME_LENGTH}, or has control characters or lone surrogates.
 */
export function checkedName(name: unknown, what = "name"): string {
  return redact(checkedText(name, what, MAX_NAME_LENGTH));
}

function checkedText(text: unknown, what: string, maxLength: number): string {
  if (typeof text !== "string" || text === "")
    throw invalidDeclaration(`the ${what} must be a non-empty string, such as "orders"`);
  if (text.length > maxLength) throw invalidDeclaration(`the ${what} must have at most ${maxLength} characters`);
  if (UNFIT.test(text)) throw invalidDeclaration(`the ${what} must not have control characters`);
  if (!text.isWellFormed()) throw invalidDeclaration(`the ${what} must not have lone surrogates`);
  return text;
}

/**
 * A frozen, checked copy of a declaration.
 *
 * @throws ActuatorError INVALID_ARGUMENT that says what is invalid.
 */
export function checkedDeclaration(declaration: NodeDeclaration): NodeDeclaration {
  const { pattern, componentType, properties, handlers, key } = declaration;
  const name = checkedName(declaration.name);
  if (!isPattern(pattern))
    throw invalidDeclaration(`the pattern of "${name}" must be one that graphs have, such as message_channel`);
  return Object.freeze({
    name,
    pattern,
    componentType: componentType === undefined ? undefined : checkedComponentType(componentType, name),
    properties: properties === undefined ? undefined : checkedProperties(properties),
    handlers: handlers === undefined ? undefined : Object.freeze(handlers.map(checkedHandler)),
    key: key === undefined ? undefined : redactedKey(checkedText(key, "key", MAX_KEY_LENGTH)),
  });
}

/**
 * What two declarations by the same declarer say together; the later one prevails.
 *
 * @throws ActuatorError INVALID_ARGUMENT if their properties are too large together.
 */
export function mergedDeclaration(before: NodeDeclaration | undefined, now: NodeDeclaration): NodeDeclaration {
  if (before === undefined) return now;
  return Object.freeze({
    ...now,
    componentType: now.componentType ?? before.componentType,
    properties: checkedProperties({ ...before.properties, ...now.properties }),
    handlers: now.handlers ?? before.handlers,
  });
}

function checkedComponentType(componentType: string, name: string): string {
  checkedName(componentType, `component type of "${name}"`);
  if (COMPONENT_TYPE.test(componentType)) return componentType;
  throw invalidDeclaration(`the component type of "${name}" must be lower-case, hyphenated words, such as amqp:queue`);
}

function checkedHandler({ name, type }: ChainHandler): ChainHandler {
  const checked = checkedName(name, "handler's name");
  return Object.freeze({ name: checked, type: checkedComponentType(type, checked) });
}
