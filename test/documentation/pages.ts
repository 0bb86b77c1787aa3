import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. */
export const root: string = join(import.meta.dirname, "..", "..");

/** Every page that users read, by its path from the root. */
export const PAGES: readonly string[] = globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], {
  cwd: root,
  exclude: (path) => path.includes("node_modules"),
}).sort();

/** A block of code of a page. */
export interface Block {
  readonly page: string;
  /** Of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** The name of the file that it is, as in "```js app.js"; undefined for a part of a program. */
  readonly file: string | undefined;
  readonly code: string;
}

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The blocks of code in all pages that are said to be of these languages. */
export function blocksOf(...languages: readonly string[]): Block[] {
  return PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/^```(\w*)(?: ([\w.-]+))?\n([\s\S]*?)^```$/gm)].map((match) => {
      const line = match.input.slice(0, match.index).split("\n").length + 1;
      return { page, line, language: match[1]!, file: match[2], code: match[3]! };
    }),
  ).filter(({ language }) => languages.includes(language));
}

/** The `@example` blocks of doc comments in the sources, each as a block of the page that its file is. */
export function examples(): Block[] {
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.startsWith("src/gen/"));
  return files.sort().flatMap((page) =>
    [...textOf(page).matchAll(/^( *)\* @example\n\1\* ```ts\n((?:\1\*.*\n)*?)\1\* ```$/gm)].map((match) => {
      const line = match.input.slice(0, match.index).split("\n").length + 2;
      const code = match[2]!.replace(/^ *\* ?/gm, "");
      return { page, line, language: "ts", file: undefined, code };
    }),
  );
}

/** The words of prose between backticks, with the lines that they stand in. */
export function spansOf(page: string): { readonly text: string; readonly line: number }[] {
  // Blocks leave their line breaks.
  const prose = textOf(page).replace(/^```.*\n[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ""));
  return [...prose.matchAll(/(`+)(?!`)([\s\S]+?)(?<!`)\1(?!`)/g)].map(({ 2: text, index, input }) => {
    return { text: text!.replace(/\s+/g, " ").trim(), line: input.slice(0, index).split("\n").length };
  });
}
