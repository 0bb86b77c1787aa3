import type { Header, Reference } from "./model.ts";

/** The headers that several answers have, by the name of their component. */
export const HEADERS = {
  NoCache: {
    description: "Caches may keep the answer, and must ask again before they use it.",
    required: true,
    schema: { type: "string", const: "no-cache" },
  },
  NoStore: {
    description: "No cache may keep the answer: session ids are credentials.",
    required: true,
    schema: { type: "string", const: "no-store" },
  },
  CacheControl: {
    description: "As for the answer that there would have been: `no-store` on sessions, otherwise `no-cache`.",
    required: true,
    schema: { type: "string", enum: ["no-cache", "no-store"] },
  },
  Vary: {
    description: "The request headers that the answer depends on.",
    required: true,
    schema: { type: "string", pattern: "^(Origin, )?Accept(, Accept-Encoding)?(, Origin)?$" },
    example: "Accept, Accept-Encoding",
  },
  NoSniff: {
    description: "Browsers take the answer for what its Content-Type says.",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
  ContentEncoding: {
    description: "A body over 1 KiB is compressed for those who ask for gzip.",
    schema: { type: "string", const: "gzip" },
  },
  ETag: {
    description:
      "A strong tag of these bytes. Sent back in If-None-Match it spares the transfer while nothing changes.",
    required: true,
    schema: { type: "string", pattern: '^"[A-Za-z0-9_-]{22}(-gzip)?"$' },
    example: '"qUiQTy8PR5uPgZdpSzAYSw"',
  },
  ContentDisposition: {
    description:
      "Keeps browsers from taking the name for a file to run. Sent where the last segment of the path has an extension that is not known to be harmless.",
    schema: { type: "string", const: "inline;filename=f.txt" },
  },
  Accept: {
    description: "The types that would have been understood, or acceptable.",
    required: true,
    schema: { type: "string", minLength: 1 },
    example: "application/vnd.service.actuator.v3+json, application/json",
  },
  AcceptEncoding: {
    description: "Sent where the body had a content coding: there must be none.",
    schema: { type: "string", const: "identity" },
  },
  WWWAuthenticate: {
    description: "How callers may say who they are.",
    required: true,
    schema: { type: "string", minLength: 1 },
    example: 'Bearer realm="actuator", Basic realm="actuator", charset="UTF-8"',
  },
  RetryAfter: {
    description: "Seconds to wait before the next attempt.",
    required: true,
    schema: { type: "string", pattern: "^[1-9][0-9]*$" },
    example: "12",
  },
} as const satisfies Readonly<Record<string, Header>>;

/** Refers to one of {@link HEADERS}. */
export function header(name: keyof typeof HEADERS): Reference {
  return { $ref: `#/components/headers/${name}` };
}

/** What every answer of an operation carries. */
export function usualHeaders(
  cacheControl: "NoCache" | "NoStore" | "CacheControl",
): Readonly<Record<string, Reference>> {
  return {
    "Cache-Control": header(cacheControl),
    Vary: header("Vary"),
    "X-Content-Type-Options": header("NoSniff"),
    "Content-Encoding": header("ContentEncoding"),
  };
}

/** The methods of a path, in the order in which answers list them. */
export function allowHeader(methods: readonly string[]): Header {
  const allow = [...methods, "HEAD", "OPTIONS"].join(", ");
  return { description: "The methods of this path.", required: true, schema: { type: "string", const: allow } };
}
