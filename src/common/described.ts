/**
 * Names a value in an error message that says what was passed instead: `a Queue`, `an array`, `undefined`, `the string "shop"`.
 * Never shows the content of an object, which may hold a credential.
 */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string")
    return value === "" ? "an empty string" : `the string ${JSON.stringify(value.slice(0, 60))}`;
  if (typeof value === "function") return value.name === "" ? "a function" : `the function ${value.name}`;
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  const name: unknown = Reflect.get(value, "constructor")?.name;
  if (typeof name !== "string" || name === "" || name === "Object") return "an object";
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}
