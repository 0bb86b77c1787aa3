import { header, usualHeaders } from "./headers.ts";
import { actuatorContent } from "./media-types.ts";
import type { Parameter, Response } from "./model.ts";

/** An answer that shows one thing, with an example of it. */
export function shown(schema: string, description: string, summary: string, value: unknown): Response {
  return {
    description,
    headers: usualHeaders("NoCache"),
    content: actuatorContent({
      schema: { $ref: `#/components/schemas/${schema}` },
      examples: { usual: { summary, value } },
    }),
  };
}

/** An answer without a body. */
export function nothing(description: string, cacheControl: "NoCache" | "NoStore" = "NoCache"): Response {
  const { "Content-Encoding": _, ...headers } = usualHeaders(cacheControl);
  return { description, headers };
}

/** The answer that spares the transfer. */
export function notModified(): Response {
  const { headers, description } = nothing("If-None-Match names the tag of the answer as it is now. There is no body.");
  return { description, headers: { ...headers, ETag: header("ETag") } };
}

/** The header that asks for the answer only where it has changed. */
export const IF_NONE_MATCH: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "Tags of answers that the caller has, or `*`.",
  schema: { type: "string" },
  example: '"qUiQTy8PR5uPgZdpSzAYSw"',
};
