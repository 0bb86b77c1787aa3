import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";

const LINE = /^\[(?<prefix>.*?)\] \d+ {2}- .*? +(?<level>LOG|ERROR|WARN|DEBUG|VERBOSE|FATAL) (?<rest>.*)$/;

/**
 * Collects what this process writes until the test ends: for Nest's own format the level, the context and the message, such
 * as `DEBUG [Orders] paid`; any other line as it is.
 */
export function collectLines(): string[] {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const { write } = stream;
    stream.write = ((text: string) => {
      for (const line of stripVTControlCharacters(String(text)).split("\n"))
        if (line !== "") lines.push(nestLine(line));
      return true;
    }) as typeof write;
    onTestFinished(() => {
      stream.write = write;
    });
  }
  return lines;
}

/** A line of Nest without its time and process. */
export function nestLine(line: string): string {
  const parts = LINE.exec(line)?.groups;
  if (parts === undefined) return line;
  const { prefix, level, rest } = parts;
  return `${prefix === "Nest" ? "" : `${prefix} `}${level} ${rest}`;
}
