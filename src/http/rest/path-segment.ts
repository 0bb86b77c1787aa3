import { ActuatorError } from "../../common/error.ts";

/**
 * The text that a segment of a path stands for: its `;matrix` parts cut off, percent-decoded as UTF-8. Empty where nothing
 * is left.
 *
 * @throws ActuatorError INVALID_ARGUMENT for invalid percent-encoding or UTF-8, a control character, and an encoded slash
 *   or any backslash, which servers in front read as the end of the segment.
 */
export function decodeSegment(segment: string): string {
  if (!/[%;\\]/.test(segment)) return segment;
  const whole = decode(segment);
  if (/[/\\]/.test(whole)) throw unfit("must not contain a slash or a backslash, encoded or not");
  if (/\p{Cc}/u.test(whole)) throw unfit("must not contain a control character");
  const matrix = segment.indexOf(";");
  return matrix < 0 ? whole : decode(segment.slice(0, matrix));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unfit("must be percent-encoded UTF-8");
  }
}

function unfit(rule: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_PATH", `The last segment of the path ${rule}.`);
}
