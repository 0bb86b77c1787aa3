import { nearest } from "../common/suggestion.ts";

/** What was probably meant by a name that does not exist. */
export function meantBy(name: string, near: readonly string[], far: readonly string[] = []): string | undefined {
  return nearest(name, near) ?? far.find((each) => lastName(each) === name.toLowerCase()) ?? nearest(name, far);
}

/** The end of a sentence about a name that does not exist: what was probably meant, or what there is. */
export function suggestion(found: string | undefined, near: readonly string[]): string {
  if (found !== undefined) return `did you mean "${found}"?`;
  return near.length > 0 && near.length <= 20
    ? `there are ${near.join(", ")}`
    : "connect-actuator config schema lists all";
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}
