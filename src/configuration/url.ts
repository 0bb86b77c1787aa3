import { type Check, shaped } from "../common/options.ts";

/** A URL of a server, which may have a password in it. */
export function urlOf(...protocols: readonly string[]): Check {
  return urls("must be a URL that begins with", protocols, (value) => [value]);
}

/** URLs of the servers of one cluster with commas between them, which may have passwords in them. */
export function urlsOf(...protocols: readonly string[]): Check {
  return urls("must be URLs with commas between them, which begin with", protocols, urlsIn);
}

/** The URLs in what {@link urlsOf} accepts. A comma in a password does not separate them. */
export function urlsIn(value: string): readonly string[] {
  return value.split(/,(?=[a-z]+:\/\/)/i);
}

function urls(rule: string, protocols: readonly string[], split: (value: string) => readonly string[]): Check {
  const beginnings = protocols.map((protocol) => `${protocol}//`);
  const isUrl = (text: string) =>
    beginnings.some((beginning) => text.toLowerCase().startsWith(beginning)) &&
    URL.canParse(text) &&
    !new URL(text).hostname.includes(",");
  return shaped(
    { kind: "text" },
    (value) =>
      typeof value === "string" && split(value).every(isUrl) ? undefined : `${rule} ${beginnings.join(" or ")}`,
    { secret: "url" },
  );
}
