import { type Check, shaped } from "../common/options.ts";

/** A URL of a server, which may have a password in it. */
export function urlOf(...protocols: readonly string[]): Check {
  const beginnings = protocols.map((protocol) => `${protocol}//`);
  return shaped(
    { kind: "text" },
    (value) =>
      typeof value === "string" &&
      URL.canParse(value) &&
      beginnings.some((beginning) => value.toLowerCase().startsWith(beginning))
        ? undefined
        : `must be a URL that begins with ${beginnings.join(" or ")}`,
    { secret: "url" },
  );
}
