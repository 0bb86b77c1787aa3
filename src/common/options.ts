import { ActuatorError } from "./error.ts";
import { isRecord } from "./record.ts";
import { nearest } from "./suggestion.ts";
import { LONGEST_TIMER_MS } from "./timeout.ts";

/**
 * Says what is wrong with a value, as the rest of a sentence about it: "must be …", or ".jwt must be …" of what is inside; see
 * `faultOf`. Undefined where it is fit.
 */
export interface Check {
  (value: unknown): string | undefined;
  /** What kind of value it takes, for those who read values from texts. Left out: only the check itself knows. */
  readonly shape?: Shape;
}

/** What kind of value a check takes. `code`: one that only code can pass. */
export type Shape =
  | { readonly kind: "text" | "flag" | "count" | "number" | "milliseconds" | "code" }
  | { readonly kind: "list"; readonly of: Check }
  | { readonly kind: "object"; readonly checks: Checks<object> };

/** The options of something by name, each with its check. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

/** One thing that is wrong with what a caller passed. */
export interface OptionFault {
  /** The whole path of the option. */
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * Checks what a caller passed as options, for those who are not told by a type checker. A key whose value is undefined is
 * as good as left out.
 *
 * @throws ActuatorError INVALID_ARGUMENT with everything that is wrong, a line each: it names the option and, for one that does
 *   not exist, the likely right one. Its reason and field are those of the first.
 */
export function checkOptions<Options extends object>(where: string, value: unknown, checks: Checks<Options>): void {
  refuseFaults(optionFaults(where, value, checks));
}

/** What has more wrong with it is something else altogether, such as another file. */
const MAX_TOLD = 20;

/**
 * @throws ActuatorError INVALID_ARGUMENT as {@link checkOptions}, where there is a fault at all; of many it tells the first, and how
 *   many more there are.
 */
export function refuseFaults(faults: readonly OptionFault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const lines = faults.slice(0, MAX_TOLD).map((fault) => fault.message);
  if (faults.length > MAX_TOLD) lines.push(`and ${faults.length - MAX_TOLD} more`);
  const message = lines.join("\n");
  throw new ActuatorError("INVALID_ARGUMENT", first.reason, message, { field: first.field });
}

/** Everything that {@link checkOptions} refuses, also within options that have options of their own. */
export function optionFaults<Options extends object>(
  where: string,
  value: unknown,
  checks: Checks<Options>,
): OptionFault[] {
  const known = new Map(Object.entries<Check>(checks));
  if (!isRecord(value)) {
    const message = `${where} must be an object with ${[...known.keys()].join(", ")}`;
    return [{ field: where, reason: "INVALID_OPTION", message }];
  }
  return Object.entries(value).flatMap(([name, option]) => {
    const check = known.get(name);
    if (check !== undefined) return option === undefined ? [] : faultsWithin(`${where}.${name}`, option, check);
    const near = nearest(name, [...known.keys()]);
    const hint = near === undefined ? `there are ${[...known.keys()].join(", ")}` : `did you mean "${near}"?`;
    const message = `${where} has no option "${name}"; ${hint}`;
    return [{ field: `${where}.${name}`, reason: "UNKNOWN_OPTION", message }];
  });
}

/** Everything that a check and, of an object of options, the checks inside refuse. */
export function faultsWithin(where: string, value: unknown, check: Check): OptionFault[] {
  const inside =
    check.shape?.kind === "object" && isRecord(value) ? optionFaults(where, value, check.shape.checks) : [];
  if (inside.length > 0) return inside;
  const fault = check(value);
  if (fault === undefined) return [];
  const [below = ""] = /^(\.\w+)+/.exec(fault) ?? [];
  return [{ field: `${where}${below}`, reason: "INVALID_OPTION", message: faultOf(where, fault) }];
}

/** What a check says, with whom it says it of. */
export function faultOf(subject: string, fault: string): string {
  return fault.startsWith(".") ? `${subject}${fault}` : `${subject} ${fault}`;
}

/** A text that is not empty. */
export const text = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && value !== "" ? undefined : `must be a text${value === "" ? " that is not empty" : ""}`,
);

/** A function. */
export const callable = shaped({ kind: "code" }, (value) =>
  typeof value === "function" ? undefined : "must be a function",
);

/** A switch. */
export const flag = shaped({ kind: "flag" }, (value) =>
  typeof value === "boolean" ? undefined : "must be true or false",
);

/** How many there may be of something. */
export const count = shaped({ kind: "count" }, (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number, not below 0",
);

/** How long something lasts that is never over at once. */
export const duration = shaped({ kind: "number" }, (value) =>
  Number.isFinite(value) && (value as number) > 0 ? undefined : "must be a number above 0",
);

/** How long something may last that may be over at once. */
export const lapse = shaped({ kind: "number" }, (value) =>
  typeof value === "number" && value >= 0 ? undefined : "must be a number, not below 0",
);

/** Milliseconds that a timer can wait. */
export const wait = shaped({ kind: "milliseconds" }, (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMER_MS
    ? undefined
    : `must be a whole number of milliseconds, not below 0 and at most ${LONGEST_TIMER_MS}`,
);

/** Milliseconds that an operation may take at most; none would be over before it began. */
export const timeLimit = shaped({ kind: "milliseconds" }, (value) =>
  typeof value === "number" && value > 0 && value < 2 ** 31
    ? undefined
    : "must be a number of milliseconds above 0 and below 2147483648",
);

/** One of a few texts. */
export function oneOf(...values: readonly string[]): Check {
  const names = values.map((value) => JSON.stringify(value));
  return shaped({ kind: "text" }, (value) =>
    values.includes(value as string) ? undefined : `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
  );
}

/** A key or certificates: the path of a file in PEM format, or its content. */
export const pem = shaped({ kind: "text" }, (value) =>
  (typeof value === "string" && value !== "") || value instanceof Uint8Array
    ? undefined
    : "must be the path of a PEM file, or its content",
);

/** A token that a header can carry: Node's own error would repeat it. */
export const bearerToken = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^[\x21-\x7e]+$/.test(value) ? undefined : "must be a text without spaces",
);

/** Whatever it is: somebody else checks it. */
export const anything: Check = () => undefined;

/** An object of options of its own; `whole` checks what they are together, where each by itself is fit. */
export function objectOf<Options extends object>(
  checks: Checks<Options>,
  whole: (options: Options) => string | undefined = () => undefined,
): Check {
  return shaped({ kind: "object", checks: checks as Checks<object> }, (value) => {
    const [fault] = optionFaults("", value, checks);
    return fault === undefined ? whole(value as Options) : fault.message.trimStart();
  });
}

/** A switch that may also be an object of options of its own, which is on. */
export function flagOr<Options extends object>(checks: Checks<Options>): Check {
  const object = objectOf(checks);
  return shaped(object.shape!, (value) => {
    if (isRecord(value)) return object(value);
    return flag(value) === undefined ? undefined : "must be true, false or an object of options";
  });
}

/** An object of texts under any names, such as `example`. */
export function textsLike(example: string): Check {
  return (value) => {
    const fits = isRecord(value) && Object.values(value).every((each) => text(each) === undefined);
    return fits ? undefined : `must be an object of texts, such as ${example}`;
  };
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

/** A check that says what kind of value it takes. */
export function shaped(shape: Shape, check: (value: unknown) => string | undefined): Check {
  return Object.assign(check, { shape });
}
