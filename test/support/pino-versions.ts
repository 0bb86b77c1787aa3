import pino from "pino";
import pino8 from "pino8";
import pino9 from "pino9";

/** The supported copies of pino, all with the types of the newest. */
export const PINO_VERSIONS: readonly (readonly [string, typeof pino])[] = [
  ["8", pino8 as unknown as typeof pino],
  ["9", pino9 as unknown as typeof pino],
  ["10", pino],
];

/** A destination that keeps the messages of the lines written to it. */
export function messages(): { readonly written: string[]; write(line: string): void } {
  const written: string[] = [];
  return { written, write: (line) => void written.push((JSON.parse(line) as { msg: string }).msg) };
}
