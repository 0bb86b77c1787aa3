/** The examples at the end of a help text: the words after the program's name, each below what they do. */
export function examples(...lines: readonly (readonly [words: string, what: string])[]): string {
  return ["", "Examples:", ...lines.map(([words, what]) => `  # ${what}\n  connect-actuator ${words}`)].join("\n");
}
