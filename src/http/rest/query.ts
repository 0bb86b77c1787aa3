import { ActuatorError } from "../../common/error.ts";

/**
 * The one value of a parameter in a query string, decoded as an HTML form writes it.
 *
 * @throws ActuatorError INVALID_ARGUMENT where the parameter is missing, given more than once, or not UTF-8.
 */
export function requiredParameter(query: string, name: string): string {
  let value: string | undefined;
  for (const pair of query.split("&")) {
    const mark = pair.indexOf("=");
    if (decode(mark < 0 ? pair : pair.slice(0, mark)) !== name) continue;
    if (value !== undefined) throw unfit(name, "must be given once");
    value = mark < 0 ? "" : decode(pair.slice(mark + 1));
    if (value === undefined) throw unfit(name, "must be percent-encoded UTF-8");
  }
  if (value === undefined) throw unfit(name, "is required");
  return value;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function unfit(name: string, rule: string): ActuatorError {
  const message = `The query parameter ${name} ${rule}.`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_QUERY", message, { field: name });
}
