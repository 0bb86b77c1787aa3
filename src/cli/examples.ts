/** The examples at the end of a help text: the words after the program's name, each with what they do. */
export function examples(...lines: readonly (readonly [words: string, what: string])[]): string {
  const width = Math.max(...lines.map(([words]) => words.length));
  const shown = lines.map(([words, what]) => `  connect-actuator ${words.padEnd(width)}  # ${what}`);
  return ["", "Examples:", ...shown].join("\n");
}
