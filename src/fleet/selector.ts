import { ActuatorError } from "../common/error.ts";

/** What selectors look at: the labels of an instance, and its `application`, `version` and `instance`. */
export type Labels = ReadonlyMap<string, string>;

/** Counted in UTF-16 code units. */
const MAX_LENGTH = 10_000;
const KEY = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,98}[A-Za-z0-9])?$/;
const VALUE = /^[^\s\p{Cc},=+|]{1,200}$/u;

/**
 * Returns a selector as the fleet writes it, so that two spellings of one selector are the same. Terms are separated by commas, and all
 * must hold: `zone=eu` (the label has this value), `zone=eu+us` (one of these), `canary` (the label is there). Beside the labels there
 * are `application`, `version` and `instance`. Empty: every instance.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a selector that cannot be read or is over 10,000 characters long.
 */
export function selectorOf(text: string): string {
  if (text.trim() === "") return "";
  if (text.length > MAX_LENGTH) throw invalidSelector(`it is longer than ${MAX_LENGTH} characters`);
  return [...new Set(text.split(",").map(termOf))].sort().join(",");
}

/** Whether an instance with these labels matches a selector, as {@link selectorOf} returned it. */
export function matches(selector: string, labels: Labels): boolean {
  if (selector === "") return true;
  return selector.split(",").every((term) => {
    const [key, values] = term.split("=", 2);
    const value = labels.get(key!);
    return value !== undefined && (values === undefined || values.split("+").includes(value));
  });
}

/**
 * The selector of these instances.
 *
 * @throws ActuatorError INVALID_ARGUMENT if there are so many that it is over 10,000 characters long.
 */
export function selectorOfInstances(ids: readonly string[]): string {
  return selectorOf(`instance=${ids.join("+")}`);
}

/** What is wrong with a key of a label; undefined if it can be one. */
export function labelKeyFault(key: string): string | undefined {
  if (["application", "version", "instance"].includes(key))
    return `"${key}" is not a label, but has an option of its own`;
  return KEY.test(key)
    ? undefined
    : `"${key}" is no key of a label: letters, digits, ".", "_", "/" and "-", at most 100`;
}

/** What is wrong with a value of a label, or with the id of an instance; undefined if it can be one. */
export function labelValueFault(value: string): string | undefined {
  return VALUE.test(value) ? undefined : `must have 1 to 200 characters, without spaces, ",", "=", "+" and "|"`;
}

function termOf(text: string): string {
  const [key, values, ...rest] = text.split("=").map((part) => part.trim());
  const isKey = key !== undefined && KEY.test(key);
  if (!isKey || rest.length > 0) throw invalidSelector(`"${text.trim()}" is neither a label nor label=value`);
  if (values === undefined) return key;
  const all = values.split("+").map((value) => value.trim());
  const wrong = all.find((value) => !VALUE.test(value));
  if (wrong !== undefined) throw invalidSelector(`"${wrong}" is no value of a label`);
  return `${key}=${[...new Set(all)].sort().join("+")}`;
}

function invalidSelector(why: string): ActuatorError {
  const message = `The selector cannot be read: ${why}. Write zone=eu,canary for the instances with both.`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_SELECTOR", message, { field: "selector" });
}
