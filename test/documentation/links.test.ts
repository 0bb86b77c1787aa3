import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { PAGES, root, spansOf, textOf } from "./pages.ts";

test("there are pages", () => expect(PAGES.length).toBeGreaterThan(15));

test.each(PAGES)("every link in %s leads somewhere", (page) => {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  const relative = targets.filter((target) => !/^[a-z]+:/.test(target));
  expect(relative.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** What npm puts into the package: package.json names most of it, and some files always come along. */
const packed = [...files, "README.md", "LICENSE", "package.json"];
const isPacked = (path: string) => packed.some((entry) => path === entry || path.startsWith(`${entry}/`));

test.each(PAGES.filter(isPacked))("every link in %s leads somewhere in the package, too", (page) => {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target]) => target!);
  const relative = targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => join(dirname(page), target));
  expect(relative.filter((path) => !isPacked(path))).toEqual([]);
});

test.each(PAGES)("every file of the repository that %s names is there", (page) => {
  const paths = spansOf(page)
    .map(({ text }) => text)
    .filter((text) => /^(src|test|docs|examples|proto|scripts|bench|\.ci|\.github)\/[\w./-]+$/.test(text));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path, anchor] = target.split("#", 2) as [string, string?];
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

/** The anchors that GitHub gives to headings: their words in lower case, without what is no letter, digit, hyphen or space. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function proseOf(page: string): string {
  return textOf(page).replace(/^```.*\n[\s\S]*?^```$/gm, "");
}
