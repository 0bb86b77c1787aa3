import { BoundedCache } from "../../common/bounded-cache.ts";
import { MEDIA_TYPES, type MediaRange, parseMediaRanges, V3 } from "./media-type.ts";

/**
 * The `Content-Type` that an `Accept` header asks for, or undefined where nothing that can be answered is acceptable
 * (RFC 9110 section 12.5.1). A header that is missing or lists nothing asks for V3; one that is malformed for nothing.
 *
 * Each type gets its quality from the most specific range that matches it; the highest quality wins, and on a tie the
 * order of `MEDIA_TYPES`. Parameters named with a type belong to the answer: `application/json;charset=utf-8` is echoed.
 */
export function negotiate(accept: string | undefined): string | undefined {
  return accept === undefined ? V3 : cache.get(accept);
}

const cache = new BoundedCache((accept: string) => {
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
    // What follows the weight was an extension of RFC 7231 and says nothing about the type.
    ranges.push({ ...range, parameters: range.parameters.slice(0, weight), quality });
  }
  return ranges;
}

/** A weight as RFC 9110 section 12.4.2 writes it, or as common clients do (`.2`, more than three digits). */
export function parseWeight(text: string): number | undefined {
  if (!/^(?:\d(?:\.\d*)?|\.\d+)$/.test(text)) return undefined;
  const weight = Number(text);
  return weight <= 1 ? weight : undefined;
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

/** How `mediaType` would be answered, and how welcome that is: as it stands, or with the parameters that a range names. */
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

/** How closely a range describes a type: 0 where it does not match at all. */
function specificity({ type, subtype }: MediaRange, mediaType: string): number {
  if (`${type}/${subtype}` === mediaType) return EXACT;
  if (type === "application" && subtype === "*+json" && mediaType.endsWith("+json")) return 3;
  if (type === "application" && subtype === "*") return 2;
  return type === "*" ? 1 : 0;
}
