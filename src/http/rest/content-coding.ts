import { BoundedCache } from "../../common/bounded-cache.ts";
import { parseWeight } from "./negotiation.ts";

/**
 * Whether an `Accept-Encoding` header asks for gzip: it gives gzip a weight, and none above it to `identity`
 * (RFC 9110 section 12.5.3). A header that is missing or malformed does not.
 */
export function asksForGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && cache.get(acceptEncoding);
}

const CODING = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*[qQ]=([\d.]+)[ \t]*)?$/;

const cache = new BoundedCache((acceptEncoding: string) => {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.split(",")) {
    if (element.trim() === "") continue;
    const [, coding, q] = CODING.exec(element) ?? [];
    const weight = q === undefined ? 1 : parseWeight(q);
    if (coding === undefined || weight === undefined) return false;
    weights.set(coding.toLowerCase(), weight);
  }
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
});
