import { type Check, type Checks, listOf, option, shaped, timerMs } from "../../common/options.ts";

/** Which pages may call from a browser. */
export interface CorsOptions {
  /**
   * Origins such as `https://admin.example.com`, with `https://*.example.com` for all subdomains, or a pattern that must match
   * the whole origin. `*` alone is refused: an unknown page must not see which users are logged in.
   */
  readonly origins: readonly (string | RegExp)[];
  /**
   * Headers that a page may send besides those of REST, Connect and gRPC-Web, such as `X-Api-Key` for `access.authorize`.
   */
  readonly headers?: readonly string[] | undefined;
  /** How long a browser caches the permission, in milliseconds. Default 600,000. */
  readonly maxAgeMs?: number | undefined;
}

const ORIGIN = /^https?:\/\/(?:\*\.)?(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;

const origin: Check = (value) =>
  value instanceof RegExp || (typeof value === "string" && ORIGIN.test(value))
    ? undefined
    : 'must be an origin such as "https://admin.example.com" or "https://*.example.com", without a path, or a pattern';

const headerName = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(value) && value !== "*"
    ? undefined
    : 'must be the name of a header, such as "X-Api-Key"',
);

/** The checks of {@link CorsOptions}. */
export const CORS: Checks<CorsOptions> = {
  origins: shaped({ kind: "list", of: origin }, (value) =>
    Array.isArray(value) && value.length > 0 ? listOf(origin)(value) : "must be a list of origins",
  ),
  headers: listOf(headerName),
  maxAgeMs: option(timerMs, { default: 600_000 }),
};

/** Tells whether pages of an origin may call. */
export function callableOrigin(origins: CorsOptions["origins"]): (origin: string) => boolean {
  const patterns = origins.map((allowed) => (typeof allowed === "string" ? wildcard(allowed) : whole(allowed)));
  return (text) => patterns.some((pattern) => pattern.test(text));
}

function wildcard(text: string): RegExp {
  const escaped = text.toLowerCase().replace(/[.[\]]/g, "\\$&");
  return new RegExp(`^${escaped.replace("*\\.", "(?:[a-z0-9_-]+\\.)+")}$`, "i");
}

/** A pattern that forgot its ends would let `https://example.com.evil.test` in. */
function whole({ source, flags }: RegExp): RegExp {
  return new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ""));
}
