import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Block, blocksOf, examples, root } from "./pages.ts";

// Whole programs are compiled and run by test/package/guides.test.ts.
const blocks = [...blocksOf("ts", "js").filter(({ file }) => file === undefined), ...examples()];
const prelude = join(import.meta.dirname, "prelude.ts");
/** What the package exports, each with its source. */
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const subpaths = Object.fromEntries(
  Object.entries<{ default?: string }>(exports).flatMap(([name, { default: file }]) =>
    name === "." || file === undefined
      ? []
      : [[name.replace(".", "connect-actuator"), [join(root, file.replace("dist", "src").replace(/js$/, "ts"))]]],
  ),
);
const folder = mkdtempSync(join(tmpdir(), "connect-actuator-documentation-"));
let errors: readonly string[];

beforeAll(async () => {
  for (const block of blocks) {
    writeFileSync(join(folder, fileOf(block)), moduleOf(block));
    // A block that begins with the name of its file can be imported by others.
    const [, name] = /^\/\/ ([\w-]+\.ts)\n/.exec(block.code) ?? [];
    if (name !== undefined) writeFileSync(join(folder, name), block.code);
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        rootDir: "/",
        rewriteRelativeImportExtensions: false,
        verbatimModuleSyntax: false,
        allowJs: true,
        checkJs: true,
        paths: {
          "connect-actuator": [join(root, "src", "index.ts")],
          ...subpaths,
        },
      },
      include: ["*.ts", "*.js"],
      exclude: [],
    }),
  );
  errors = await promisify(execFile)(join(root, "node_modules", ".bin", "tsc"), ["-p", folder], { cwd: folder })
    .then(() => [])
    .catch(({ stdout }) => String(stdout).split("\n"));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("there is code on the pages", () => expect(blocks.length).toBeGreaterThan(15));

test.each(blocks)("$page:$line compiles against the sources", (block) => {
  const found = errors.filter((line) => line.startsWith(`${fileOf(block)}(`));
  expect(block.page.startsWith("src/") ? found.filter((line) => !TAKEN_FOR_GRANTED.test(line)) : found).toEqual([]);
});

/** An example in a comment may name a part of its application or library, and return from a function that it does not show. */
const TAKEN_FOR_GRANTED = /error TS(2304|2552|1108|18004):/;

test("nothing else is wrong with the compilation", () => {
  const files = blocks.map(fileOf);
  expect(errors.filter((line) => /error/.test(line) && !files.some((file) => line.startsWith(`${file}(`)))).toEqual([]);
});

function fileOf({ page, line, language }: Block): string {
  return `${page.replaceAll("/", "-")}-${line}.${language}`;
}

/** A block as a module of its own, with its lines where they stand on the page, so that errors name these. */
function moduleOf({ page, code, line }: Block): string {
  // Some options by themselves stand for what is passed to createActuator.
  const isOption = /^\w+: /.test(code);
  const whole = (isOption ? `createActuator({ ${code} });` : code).replace(/,?\s*\/\* … \*\//g, ", ...omitted");
  const names = preludeNames().filter((name) => isUsed(name, whole) && !isDeclared(name, whole));
  const own = page.startsWith("src/")
    ? exportsOf(page).filter((name) => isUsed(name, whole) && !isDeclared(name, whole))
    : [];
  const head = [
    `import { ${names.filter((name) => !own.includes(name)).join(", ")} } from "${prelude}";`,
    ...(own.length > 0 ? [`import { ${own.join(", ")} } from "${join(root, page)}";`] : []),
  ].join(" ");
  return `${head}${"\n".repeat(line - 1)}${whole}\nexport {};\n`;
}

/** What a source file defines and exports. */
function exportsOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(([, name]) => name!);
}

/** Everything that the prelude exports. */
function preludeNames(): string[] {
  const text = readFileSync(prelude, "utf8");
  const declared = [...text.matchAll(/^export (?:declare (?:const|class)|interface) (\w+)/gm)].map(([, name]) => name!);
  const passedOn = [...text.matchAll(/^export \{([^}]+)\}/gm)].flatMap(([, list]) => list!.split(","));
  return [...declared, ...passedOn.map((each) => /(?:\bas )?(?:type )?(\w+)\s*$/.exec(each)![1]!)];
}

function isUsed(name: string, code: string): boolean {
  return new RegExp(`(?<![\\w"'/]|(?<!\\.\\.)\\.)${name}\\b(?!\\s*:)`).test(code);
}

function isDeclared(name: string, code: string): boolean {
  return new RegExp(
    `\\b(?:const|let|function|class) (?:${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} =)|\\bimport [^;]*\\b${name}\\b[^;]* from`,
  ).test(code);
}
