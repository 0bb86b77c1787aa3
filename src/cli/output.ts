import { styleText } from "node:util";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { printableJson } from "./printable.ts";

/** The colours and weights that are used. */
export type Format = Parameters<typeof styleText>[0];

/** Writes a line of what was asked for. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a line about what was asked for: it does not mix with the answer where that goes on to another program. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes a message as the JSON of protobuf: over several lines, or on one of a stream of such lines. */
export function printJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  lines: "many" | "one" = "many",
): void {
  print(printableJson(toJson(schema, message), lines === "many" ? 2 : undefined));
}

/** Text in a colour, where standard output is a terminal; NO_COLOR and FORCE_COLOR overrule that. */
export function styled(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** A reader that has seen enough, as `head` does, ends the command without a word: that is no failure. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit();
      throw error;
    });
  }
}
