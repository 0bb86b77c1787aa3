import { timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import type { Logger, LoggerGroup, Override } from "../gen/actuator/v3/loggers_pb.ts";
import { levelName } from "./level-text.ts";
import { styled } from "./output.ts";
import { printable } from "./printable.ts";
import { shortTimeToText, timeToText } from "./time.ts";

/** How much of a reason a list shows; the history and `get` show all of it. */
const SHORT_REASON = 60;

/** Where the level of a logger comes from, in a few words: `inherited`, `configured`, or who set it, until when and why. */
export function originText(logger: Logger): string {
  const configured = levelName(logger.configuredLevel);
  if (configured === undefined) return styled("dim", "inherited");
  const parts = logger.override === undefined ? ["configured"] : overrideParts(logger.override);
  if (logger.effectiveLevel !== logger.configuredLevel) parts.unshift(`asked for ${configured}`);
  if (logger.baselineLevel !== logger.configuredLevel) {
    parts.push(`baseline ${levelName(logger.baselineLevel) ?? "inherited"}`);
  }
  return parts.join(", ");
}

/** Who set the level of a group, until when and why, and that its members differ; empty where there is none of it. */
export function groupOriginText({ override, mixed }: LoggerGroup): string {
  return [...(override === undefined ? [] : overrideParts(override)), ...(mixed ? ["mixed"] : [])].join(", ");
}

/** `until 14:32:10 (9m 58s left)`; undefined where there is no end. */
function untilText({ expireTime }: Override): string | undefined {
  if (expireTime === undefined) return undefined;
  const left = Math.ceil((timestampMs(expireTime) - Date.now()) / 1_000) * 1_000;
  return `until ${shortTimeToText(expireTime)} (${durationToText(left)} left)`;
}

/** The same as lines of `get`, each a label and what it says. */
export function overrideLines(override: Override | undefined): [label: string, text: string][] {
  if (override === undefined) return [];
  const { setTime, actor, reason, instance } = override;
  const lines: [string, string][] = [];
  if (setTime !== undefined) lines.push(["set", timeToText(setTime)]);
  const lasts = [override.held ? "while somebody holds it" : "", untilText(override) ?? ""].filter(
    (text) => text !== "",
  );
  lines.push(["lasts", lasts.join(", ") || "until it is changed"]);
  if (actor !== "") lines.push(["by", printable(actor)]);
  if (instance !== "") lines.push(["through", printable(instance)]);
  if (reason !== "") lines.push(["reason", printable(reason)]);
  return lines;
}

function overrideParts(override: Override): string[] {
  const parts = override.held ? ["held"] : [];
  const until = untilText(override);
  if (until !== undefined) parts.push(until);
  else if (override.setTime !== undefined) parts.push(`set ${shortTimeToText(override.setTime)}`);
  if (override.actor !== "") parts.push(`by ${printable(override.actor)}`);
  if (override.reason !== "") parts.push(`"${shortened(printable(override.reason))}"`);
  return parts;
}

function shortened(text: string): string {
  return text.length > SHORT_REASON ? `${text.slice(0, SHORT_REASON - 1)}…` : text;
}
