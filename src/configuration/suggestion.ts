import { nearest } from "../options.ts";

/** The end of a sentence about a name that does not exist: what was probably meant, or what there is. */
export function suggestion(name: string, near: readonly string[], far: readonly string[] = []): string {
  const found = nearest(name, near) ?? far.find((each) => lastName(each) === name.toLowerCase()) ?? nearest(name, far);
  if (found !== undefined) return `did you mean "${found}"?`;
  return near.length > 0 && near.length <= 20
    ? `there are ${near.join(", ")}`
    : "connect-actuator config schema lists all";
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}
