import { ActuatorError } from "./error.ts";
import { isRecord } from "./record.ts";
import { didYouMean } from "./suggestion.ts";
import { LONGEST_TIMER_MS } from "./timeout.ts";

/**
 * Checks one option: returns what is wrong with a value, as the rest of a sentence about it ("must be …", or ".jwt must be …" for a part
 * of it), or undefined if it is valid.
 *
 * Checks stand beside the interface of their options, one for each name; the comments of that interface describe them. Files, the
 * environment, the JSON schema and `docs/reference/options.md` are derived from both.
 */
export interface Check {
  (value: unknown): string | undefined;
  /** The kind of value, for reading it from a file or the environment. Left out: only code can pass it. */
  readonly shape?: Shape | undefined;
  readonly facts?: Facts | undefined;
}

/** The kind of value that a check takes. `texts` and `lists` are objects of strings and of lists of strings under any names. */
export type Shape =
  | { readonly kind: "text" | "flag" | "count" | "number" | "milliseconds" | "texts" | "lists" | "json" | "code" }
  | { readonly kind: "list"; readonly of: Check }
  | {
      readonly kind: "object";
      readonly checks: Checks<object>;
      /** It can be true or false as well. */
      readonly flag?: boolean;
      /** It can be this word as well. */
      readonly word?: string;
      readonly example?: string | undefined;
    };

/** What else there is to know about an option. */
export interface Facts {
  /** The value in force if it is not given. */
  readonly default?: unknown;
  /** Never shown. `url`: shown without credentials. */
  readonly secret?: true | "url";
  /**
   * It is the path of a file; relative paths in a configuration file start from the folder of that file. `read`: the file must exist,
   * unless the value is an address or the content itself; `written`: its folder must exist.
   */
  readonly path?: "read" | "written";
  /** The JSON schema of the value in a file, if it says more than the shape. */
  readonly schema?: object;
  /** The section is in force even if it is not given. */
  readonly always?: true;
  /** Only `connect-actuator serve` reads it from a configuration; an application passes it in code. */
  readonly serveOnly?: true;
}

/** One check for each option of an interface. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

/** One thing that is wrong with the options that a caller passed. */
export interface OptionFault {
  /** The path of the option, such as `createActuator.limits.maxConnections`. */
  readonly field: string;
  readonly reason: "INVALID_OPTION" | "UNKNOWN_OPTION";
  readonly message: string;
}

/** Makes a check of a test and the kind of value that it takes. */
export function shaped(shape: Shape, test: (value: unknown) => string | undefined, facts?: Facts): Check {
  return Object.assign((value: unknown) => test(value), { shape, facts });
}

/** Adds facts to a check: `option(count, { default: 1_000 })`. */
export function option(check: Check, facts: Facts): Check {
  return Object.assign((value: unknown) => check(value), { shape: check.shape, facts: { ...check.facts, ...facts } });
}

/** An option that only code can pass, whatever its check says about values. */
export function codeOnly(check: Check): Check {
  return shaped({ kind: "code" }, check);
}

/**
 * Checks the options that a caller passed. A property whose value is undefined counts as left out.
 *
 * @param where the function that takes them, such as "createActuator"
 * @param example of such options, for callers that pass something else, such as `{ app: "shop" }`
 * @throws ActuatorError INVALID_ARGUMENT with every fault, one per line; for an unknown option with the nearest name. Its reason and
 *   field are those of the first fault.
 */
export function checkOptions<Options extends object>(
  where: string,
  value: unknown,
  checks: Checks<Options>,
  example?: string,
): void {
  refuseFaults(optionFaults(where, value, checks, example));
}

/** More faults than this mean that something else was passed altogether, such as another file. */
const MAX_LISTED = 20;

/**
 * Refuses options with any fault. The message lists the first 20.
 *
 * @param separator what stands between two faults in the message. Default: a line break
 * @throws ActuatorError INVALID_ARGUMENT as {@link checkOptions}
 */
export function refuseFaults(faults: readonly OptionFault[], separator = "\n"): void {
  const [first] = faults;
  if (first === undefined) return;
  const lines = faults.slice(0, MAX_LISTED).map((fault) => fault.message);
  if (faults.length > MAX_LISTED) lines.push(`and ${faults.length - MAX_LISTED} more`);
  throw new ActuatorError(
    ...(["INVALID_ARGUMENT", first.reason, lines.join(separator), { field: first.field }] as const),
    {
      faults: faults.map(({ field, message }) => ({ at: field, message })),
    },
  );
}

/** Lists everything that {@link checkOptions} refuses, including the options of options. */
export function optionFaults<Options extends object>(
  where: string,
  value: unknown,
  checks: Checks<Options>,
  example?: string,
): OptionFault[] {
  const known = new Map(Object.entries<Check>(checks));
  if (!isOptions(value, known)) {
    const message = `${where} ${notOptions(value, [...known.keys()], example)}`;
    return [{ field: where, reason: "INVALID_OPTION", message }];
  }
  return Object.entries(value).flatMap(([name, option]) => {
    const check = known.get(name);
    const field = where === "" ? name : `${where}.${name}`;
    if (check !== undefined) return option === undefined ? [] : faultsWithin(field, option, check);
    const message = `Unknown option "${field}"; ${didYouMean(name, [...known.keys()])}`;
    return [{ field, reason: "UNKNOWN_OPTION", message }];
  });
}

/** Lists everything that a check refuses; of an object of options and of a list, what the checks inside refuse. */
export function faultsWithin(where: string, value: unknown, check: Check): OptionFault[] {
  const inside = faultsInside(where, value, check);
  if (inside.length > 0) return inside;
  const fault = check(value);
  if (fault === undefined) return [];
  const [below = ""] = /^(\.\w+)+/.exec(fault) ?? [];
  return [{ field: `${where}${below}`, reason: "INVALID_OPTION", message: faultOf(where, fault) }];
}

function faultsInside(where: string, value: unknown, { shape }: Check): OptionFault[] {
  if (shape?.kind === "object" && isRecord(value)) return optionFaults(where, value, shape.checks, shape.example);
  if (shape?.kind !== "list" || !Array.isArray(value)) return [];
  return value.flatMap((each, index) => {
    const entry = `${where} entry ${index}`;
    return faultsWithin(entry, each, shape.of).map((fault) => ({
      ...fault,
      field: `${where}[${index}]${fault.field.slice(entry.length)}`,
    }));
  });
}

/** A fault of a check with its subject: "limits" and "must be …", or "access" and ".jwt must be …". */
export function faultOf(subject: string, fault: string): string {
  return fault.startsWith(".") ? `${subject}${fault}` : `${subject} ${fault}`;
}

/** An adapter, store or graph in the place of options has methods, none of which is an option: listing them would not help. */
function isOptions(value: unknown, known: ReadonlyMap<string, Check>): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const entries = Object.entries(value);
  if (entries.some(([name]) => known.has(name))) return true;
  return !isInstance(value) && !entries.some(([, member]) => typeof member === "function");
}

/** Whether a class made it: its methods are no entries. The prototype of a plain object has no prototype, in any realm. */
function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

function notOptions(value: unknown, known: readonly string[], example?: string): string {
  const names = `{ ${known.slice(0, 3).join(", ")}${known.length > 3 ? ", …" : ""} }`;
  return `must be an object of options such as ${example ?? names}, not ${described(value)}`;
}

/** What a value is, without repeating anything that could be a secret. */
function described(value: unknown): string {
  if (value === undefined || value === null || typeof value === "boolean" || typeof value === "number")
    return `${value}`;
  if (Array.isArray(value)) return "a list";
  const { kind, attach } = value as { readonly kind?: unknown; readonly attach?: unknown };
  if (typeof attach === "function") return "an adapter";
  if (typeof value === "object") return typeof kind === "string" ? `an object of kind "${kind}"` : "another object";
  return `a ${typeof value}`;
}

/** A non-empty string. */
export const text = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a non-empty string",
);

/** A function. */
export const callable = shaped({ kind: "code" }, (value) =>
  typeof value === "function" ? undefined : "must be a function",
);

/** True or false. */
export const flag = shaped({ kind: "flag" }, (value) =>
  typeof value === "boolean" ? undefined : "must be true or false",
);

/** A number that is wrong; other values are not repeated, since they may be secrets. */
function given(value: unknown): string {
  return typeof value === "number" ? `, not ${value}` : "";
}

/** A whole number from `min` to `max`. */
export function countFrom(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const fits = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
  return shaped(
    { kind: "count" },
    (value) => (fits(value) ? undefined : `must be a whole number ${range}${given(value)}`),
    {
      schema: { type: "integer", minimum: min, ...(max !== Number.MAX_SAFE_INTEGER && { maximum: max }) },
    },
  );
}

/** A whole number of at least 0. */
export const count = countFrom(0);

/** A number above 0. */
export const positive = shaped({ kind: "number" }, (value) =>
  Number.isFinite(value) && (value as number) > 0 ? undefined : `must be a number above 0${given(value)}`,
);

/** Milliseconds above 0, of any length. */
export const positiveMs = shaped({ kind: "milliseconds" }, (value) =>
  Number.isFinite(value) && (value as number) > 0
    ? undefined
    : `must be a number of milliseconds above 0${given(value)}`,
);

/** Milliseconds of at least 0, of any length. */
export const nonNegativeMs = shaped({ kind: "milliseconds" }, (value) =>
  typeof value === "number" && value >= 0 ? undefined : `must be a number of milliseconds of at least 0${given(value)}`,
);

/** Milliseconds of at least 0 that a timer can wait. */
export const timerMs = shaped({ kind: "milliseconds" }, (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMER_MS
    ? undefined
    : `must be a whole number of milliseconds from 0 to ${LONGEST_TIMER_MS}${given(value)}`,
);

/** Milliseconds above 0 that a timer can wait: a timeout of 0 would be over before it began. */
export const timeLimitMs = shaped({ kind: "milliseconds" }, (value) =>
  typeof value === "number" && value > 0 && value <= LONGEST_TIMER_MS
    ? undefined
    : `must be a number of milliseconds above 0 and at most ${LONGEST_TIMER_MS}${given(value)}`,
);

/** One of a few strings. */
export function oneOf(...values: readonly string[]): Check {
  const names = values.map((value) => JSON.stringify(value));
  const expected = `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return shaped({ kind: "text" }, (value) => (values.includes(value as string) ? undefined : expected), {
    schema: { enum: values },
  });
}

/** A key or certificates: the path of a file in PEM format, or its content. */
export const pem = shaped(
  { kind: "text" },
  (value) =>
    (typeof value === "string" && value !== "") || value instanceof Uint8Array
      ? undefined
      : "must be the path of a PEM file, or its content",
  { path: "read" },
);

/** A token that a header can carry: the error of Node.js would repeat it. */
export const bearerToken = shaped(
  { kind: "text" },
  (value) =>
    typeof value === "string" && /^[\x21-\x7e]+$/.test(value) ? undefined : "must be a string without spaces",
  { secret: true },
);

/** The address of an HTTP server, with a path at most: the message does not repeat it, because it may have a password in it. */
export const httpAddress = shaped({ kind: "text" }, (value) => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an address such as http://10.0.0.7:9001";
  if (url.username !== "" || url.password !== "") return "must be an address without user and password";
  return url.search === "" && url.hash === "" ? undefined : "must be an address without ? and #";
});

/** Any value: it is checked elsewhere. */
export const unknown: Check = () => undefined;

/** An object of options of its own; `whole` checks them together once each is valid. */
export function objectOf<Options extends object>(
  checks: Checks<Options>,
  whole: (options: Options) => string | undefined = () => undefined,
  example?: string,
): Check {
  return shaped({ kind: "object", checks: checks as Checks<object>, example }, (value) => {
    if (!isRecord(value)) return notOptions(value, Object.keys(checks), example);
    const [fault] = optionFaults("", value, checks);
    return fault === undefined ? whole(value as Options) : nestedFault(fault);
  });
}

/** The first fault inside an object, as the rest of a sentence about the object. */
function nestedFault({ field, reason, message }: OptionFault): string {
  return reason === "UNKNOWN_OPTION" ? `has an u${message.slice(1)}` : `.${field}${message.slice(field.length)}`;
}

/** True, false, or an object of options of its own, which means true. */
export function flagOr<Options extends object>(checks: Checks<Options>, isOn = false): Check {
  const object = objectOf(checks);
  return shaped(
    { kind: "object", checks: checks as Checks<object>, flag: true },
    (value) => {
      if (isRecord(value)) return object(value);
      return flag(value) === undefined ? undefined : "must be true, false or an object of options";
    },
    { default: isOn },
  );
}

/** A word, or the object of options of another check. */
export function wordOr(word: string, object: Check): Check {
  const shape = object.shape as Extract<Shape, { readonly kind: "object" }>;
  return shaped({ ...shape, word }, (value) => {
    if (value === word) return undefined;
    const fault = object(value);
    return isRecord(value) ? fault : `must be "${word}" or ${fault?.replace(/^must be /, "")}`;
  });
}

/** An object of strings under any names, such as `example`. */
export function textsLike(example: string): Check {
  return shaped({ kind: "texts" }, (value) => {
    const fits = isRecord(value) && Object.values(value).every((each) => text(each) === undefined);
    return fits ? undefined : `must be an object of strings, such as ${example}`;
  });
}

/** An object with these methods; `description` says what such objects are and where they come from. */
export function having(methods: readonly string[], description: string): Check {
  return shaped({ kind: "code" }, (value) => {
    const object = value as Readonly<Record<string, unknown>> | null | undefined;
    return methods.every((method) => typeof object?.[method] === "function") ? undefined : `must be ${description}`;
  });
}

/** A list whose every entry passes `check`. */
export function listOf(check: Check): Check {
  return shaped({ kind: "list", of: check }, (value) => {
    if (!Array.isArray(value)) return "must be a list";
    for (const [index, entry] of value.entries()) {
      const fault = check(entry);
      if (fault !== undefined) return faultOf(`entry ${index}`, fault);
    }
    return undefined;
  });
}

/** A list with at least one entry. */
export function someOf(check: Check): Check {
  return shaped({ kind: "list", of: check }, (value) =>
    Array.isArray(value) && value.length === 0 ? "must not be empty" : listOf(check)(value),
  );
}

/** A non-empty string, or a list of at least one. */
export const textOrTexts = shaped(
  { kind: "list", of: text },
  (value) => (Array.isArray(value) ? someOf(text)(value) : text(value) && "must be a string or a list of strings"),
  { schema: { oneOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] } },
);
