import type { Check } from "../common/options.ts";

/** A time as files of access say it, RFC 3339. */
export const timestamp: Check = (value) =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  Number.isFinite(Date.parse(value))
    ? undefined
    : "must be a time such as 2027-01-31T00:00:00Z";
