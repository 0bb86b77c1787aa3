import { BoundedCache } from "../../common/bounded-cache.ts";
import type { Metrics } from "../../operations/metrics/metrics.ts";
import { type PrometheusFormat, prometheusText } from "../../operations/metrics/prometheus-text.ts";
import { type MediaRange, parseMediaRanges, parseWeight } from "./negotiation.ts";
import type { Operation } from "./operation.ts";
import { Refusal } from "./problem.ts";
import { Representation } from "./representation.ts";

interface TextType {
  readonly format: PrometheusFormat;
  readonly type: string;
  readonly subtype: string;
  readonly version: string;
}

/** The types of answers, the most preferred first. */
const TYPES: readonly TextType[] = [
  { format: "text", type: "text", subtype: "plain", version: "0.0.4" },
  { format: "openmetrics", type: "application", subtype: "openmetrics-text", version: "1.0.0" },
];

const LISTED = TYPES.map(contentTypeOf).join(", ");

/**
 * GET of the metrics as text, in the format that the scraper prefers.
 *
 * @see https://prometheus.io/docs/instrumenting/content_negotiation/
 */
export function readPrometheus(metrics: Pick<Metrics, "collect">): Operation {
  return {
    ownTypes: true,
    run({ request }) {
      const chosen = negotiateText(request.headers.accept);
      if (chosen === undefined) {
        throw new Refusal(406, `The answer can be one of the types ${LISTED}.`, { Accept: LISTED });
      }
      const text = prometheusText(metrics.collect(), chosen.format);
      return { status: 200, contentType: contentTypeOf(chosen), representation: new Representation(text) };
    },
  };
}

function contentTypeOf({ type, subtype, version }: TextType): string {
  return `${type}/${subtype}; version=${version}; charset=utf-8`;
}

/** The type that an `Accept` header prefers; undefined if it accepts none. Without a header it is the older text format. */
function negotiateText(accept: string | undefined): TextType | undefined {
  return accept === undefined || accept.trim() === "" ? TYPES[0] : cache.get(accept);
}

const cache = new BoundedCache((accept: string): TextType | undefined => {
  const ranges = parseMediaRanges(accept) ?? [];
  let chosen: TextType | undefined;
  let highest = 0;
  for (const candidate of TYPES) {
    const quality = qualityOf(candidate, ranges);
    if (quality > highest) {
      highest = quality;
      chosen = candidate;
    }
  }
  return chosen;
});

/** The quality of a type: that of the most specific range that matches it. */
function qualityOf(candidate: TextType, ranges: readonly MediaRange[]): number {
  let closest = 0;
  let quality = 0;
  for (const range of ranges) {
    const rank = specificity(range, candidate);
    const weight = weightOf(range);
    if (rank === 0 || rank < closest) continue;
    quality = rank > closest ? weight : Math.max(quality, weight);
    closest = rank;
  }
  return quality;
}

/** How closely a range matches a type; 0 if it does not. Only the parameters version and charset matter. */
function specificity({ type, subtype, parameters }: MediaRange, candidate: TextType): number {
  if (type === "*") return 1;
  if (type !== candidate.type) return 0;
  if (subtype === "*") return 2;
  if (subtype !== candidate.subtype) return 0;
  const named = new Map(parameters);
  const version = named.get("version")?.replaceAll('"', "");
  const charset = named.get("charset")?.replaceAll('"', "").toLowerCase();
  if (charset !== undefined && charset !== "utf-8") return 0;
  if (version === undefined) return 3;
  return version === candidate.version ? 4 : 0;
}

function weightOf({ parameters }: MediaRange): number {
  const weight = parameters.find(([name]) => name === "q");
  return weight === undefined ? 1 : (parseWeight(weight[1]) ?? 0);
}
