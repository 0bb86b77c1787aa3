import { BoundedCache } from "../../common/bounded-cache.ts";

/** The type of every answer unless the caller asks for another: spec section 9. */
export const V3 = "application/vnd.service.actuator.v3+json";
/** The original's types, answered as synonyms so that clients written for it work unchanged. */
const SPRING_V3 = "application/vnd.spring-boot.actuator.v3+json";
const SPRING_V2 = "application/vnd.spring-boot.actuator.v2+json";
export const JSON_TYPE = "application/json";

/** The types of answers, the most preferred first. All four name the same bytes. */
export const MEDIA_TYPES = [V3, SPRING_V3, SPRING_V2, JSON_TYPE] as const;

/** A media type or a range of them (RFC 9110 sections 8.3.1 and 12.5.1). */
export interface MediaRange {
  /** In lower case; `*` for any. */
  readonly type: string;
  readonly subtype: string;
  /** In order: names in lower case, values as written. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

const TYPE = /[ \t]*([\w!#$%&'*+.^`|~-]+)(?:\/([\w!#$%&'*+.^`|~-]+))?/y;
const PARAMETER = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))?/y;
const SEPARATOR = /[ \t]*(?:,|$)/y;

/** Parses a comma-separated list of media ranges. Skips empty elements. Returns undefined if the list is malformed. */
export function parseMediaRanges(header: string): MediaRange[] | undefined {
  const ranges: MediaRange[] = [];
  let at = 0;
  const next = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < header.length) {
    const name = next(TYPE);
    if (name !== null) {
      // Old Java clients send a lone "*" for "*/*".
      const type = name[1]!.toLowerCase();
      const subtype = name[2]?.toLowerCase() ?? (type === "*" ? "*" : undefined);
      if (subtype === undefined || (type === "*" && subtype !== "*")) return undefined;
      const parameters: (readonly [string, string])[] = [];
      for (let found = next(PARAMETER); found !== null; found = next(PARAMETER)) {
        if (found[1] !== undefined) parameters.push([found[1].toLowerCase(), found[2]!]);
      }
      ranges.push({ type, subtype, parameters });
    }
    if (next(SEPARATOR) === null) return undefined;
  }
  return ranges;
}

/** Parses a weight (RFC 9110 section 12.4.2), also as common clients write it: `.2`, or more than three digits. */
export function parseWeight(text: string): number | undefined {
  if (!/^(?:\d(?:\.\d*)?|\.\d+)$/.test(text)) return undefined;
  const weight = Number(text);
  return weight <= 1 ? weight : undefined;
}

/**
 * Returns the `Content-Type` that an `Accept` header prefers, or undefined if none of {@link MEDIA_TYPES} is acceptable (RFC 9110 section
 * 12.5.1). A missing or empty header prefers V3; a malformed one accepts nothing.
 *
 * The most specific range that matches a type gives its quality. The highest quality wins; among equals the order of `MEDIA_TYPES`
 * decides. Parameters of a type are repeated in the answer: `application/json;charset=utf-8` stays as it is.
 */
export function negotiate(accept: string | undefined): string | undefined {
  return accept === undefined ? V3 : contentTypes.get(accept);
}

const contentTypes = new BoundedCache((accept: string) => {
  const ranges = parseAccept(accept);
  if (ranges === undefined) return undefined;
  return ranges.length === 0 ? V3 : best(ranges);
});

interface AcceptRange extends MediaRange {
  readonly quality: number;
}

function parseAccept(accept: string): AcceptRange[] | undefined {
  const ranges: AcceptRange[] = [];
  for (const range of parseMediaRanges(accept) ?? [undefined]) {
    if (range === undefined) return undefined;
    const weight = range.parameters.findIndex(([name]) => name === "q");
    if (weight < 0) {
      ranges.push({ ...range, quality: 1 });
      continue;
    }
    const quality = parseWeight(range.parameters[weight]![1]);
    if (quality === undefined) return undefined;
    // Parameters after the weight are extensions of RFC 7231, not part of the type.
    ranges.push({ ...range, parameters: range.parameters.slice(0, weight), quality });
  }
  return ranges;
}

function best(ranges: readonly AcceptRange[]): string | undefined {
  let winner: string | undefined;
  let highest = 0;
  for (const mediaType of MEDIA_TYPES) {
    const { contentType, quality } = offer(mediaType, ranges);
    if (quality > highest) {
      highest = quality;
      winner = contentType;
    }
  }
  return winner;
}

/** The content type and quality of an answer of `mediaType`: plain, or with the parameters of a range. */
function offer(mediaType: string, ranges: readonly AcceptRange[]): { contentType: string; quality: number } {
  let plain: AcceptRange | undefined;
  let parameterized: AcceptRange | undefined;
  for (const range of ranges) {
    const rank = specificity(range, mediaType);
    if (rank === 0) continue;
    if (rank === EXACT && range.parameters.length > 0) {
      if (range.quality > (parameterized?.quality ?? 0)) parameterized = range;
    } else if (plain === undefined || rank > specificity(plain, mediaType)) {
      plain = range;
    } else if (rank === specificity(plain, mediaType) && range.quality > plain.quality) {
      plain = range;
    }
  }
  if (parameterized !== undefined && parameterized.quality >= (plain?.quality ?? 0)) {
    const parameters = parameterized.parameters.map(([name, value]) => `;${name}=${value}`).join("");
    return { contentType: mediaType + parameters, quality: parameterized.quality };
  }
  return { contentType: mediaType, quality: plain?.quality ?? 0 };
}

const EXACT = 4;

/** How closely a range matches a type; 0 if it does not. */
function specificity({ type, subtype }: MediaRange, mediaType: string): number {
  if (`${type}/${subtype}` === mediaType) return EXACT;
  if (type === "application" && subtype === "*+json" && mediaType.endsWith("+json")) return 3;
  if (type === "application" && subtype === "*") return 2;
  return type === "*" ? 1 : 0;
}

/**
 * Whether an `Accept-Encoding` header prefers gzip: gzip has a weight, and `identity` has no higher one (RFC 9110 section 12.5.3). False
 * for a missing or malformed header.
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && gzipPreferences.get(acceptEncoding);
}

const CODING = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*[qQ]=([\d.]+)[ \t]*)?$/;

/** The weights of an `Accept-Encoding` header by coding, in lower case; undefined if it is malformed. */
export function codingWeights(acceptEncoding: string): ReadonlyMap<string, number> | undefined {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.split(",")) {
    if (element.trim() === "") continue;
    const [, coding, q] = CODING.exec(element) ?? [];
    const weight = q === undefined ? 1 : parseWeight(q);
    if (coding === undefined || weight === undefined) return undefined;
    weights.set(coding.toLowerCase(), weight);
  }
  return weights;
}

const gzipPreferences = new BoundedCache((acceptEncoding: string) => {
  const weights = codingWeights(acceptEncoding);
  if (weights === undefined) return false;
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
});
