/** The type of every answer unless the caller asks for another: spec section 9. */
export const V3 = "application/vnd.service.actuator.v3+json";
/** The original's types, answered as synonyms so that clients written for it work unchanged. */
const SPRING_V3 = "application/vnd.spring-boot.actuator.v3+json";
const SPRING_V2 = "application/vnd.spring-boot.actuator.v2+json";
/** What everybody takes. */
export const JSON_TYPE = "application/json";

/** What the gateway can answer with, the most preferred first. All four name the same bytes. */
export const MEDIA_TYPES = [V3, SPRING_V3, SPRING_V2, JSON_TYPE] as const;

/** A media type, or a range of them, as RFC 9110 section 8.3.1 and 12.5.1 write it. */
export interface MediaRange {
  /** In lower case; `*` for any. */
  readonly type: string;
  readonly subtype: string;
  /** Names in lower case, values as written, in order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

const TYPE = /[ \t]*([\w!#$%&'*+.^`|~-]+)(?:\/([\w!#$%&'*+.^`|~-]+))?/y;
const PARAMETER = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))?/y;
const SEPARATOR = /[ \t]*(?:,|$)/y;

/** Reads a comma-separated list of media ranges. Empty elements are skipped. Returns undefined where it is malformed. */
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

/** What a request's body may be. */
export interface BodyTypes {
  /** The list that an answer of 415 gives in its `Accept` header. */
  readonly listed: string;
  /** Whether a body of this `Content-Type` can be read. */
  includes(contentType: string): boolean;
}

/** What a change of level is written in: the types that are answered. */
export const ACTUATOR_BODY: BodyTypes = bodyTypes(MEDIA_TYPES.join(", "), (essence) =>
  (MEDIA_TYPES as readonly string[]).includes(essence),
);

/** Any JSON type. */
export const JSON_BODY: BodyTypes = bodyTypes(
  `${JSON_TYPE}, application/*+json`,
  (essence) => essence === JSON_TYPE || /^application\/[^*]+\+json$/.test(essence),
);

function bodyTypes(listed: string, matches: (essence: string) => boolean): BodyTypes {
  return {
    listed,
    includes(contentType) {
      if (contentType === JSON_TYPE) return true;
      const [range, ...more] = parseMediaRanges(contentType) ?? [];
      if (range === undefined || more.length > 0) return false;
      return matches(`${range.type}/${range.subtype}`) && range.parameters.every(isUtf8IfCharset);
    },
  };
}

function isUtf8IfCharset([name, value]: readonly [string, string]): boolean {
  return name !== "charset" || /^"?utf-?8"?$/i.test(value);
}
