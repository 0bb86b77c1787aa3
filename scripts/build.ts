/** `npm run build`: makes `dist`, which is what the package publishes, from `src` without the sample. */
import { chmodSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { CommandFailed, root, run } from "./command.ts";

const dist = join(root, "dist");

/**
 * The compiler rewrites `./x.ts` to `./x.js` in what it emits as JavaScript but leaves declarations as they are
 * (seen with TypeScript 7.0.2). There is no `x.ts` in the package; `./x.js` is what every resolver leads to `x.d.ts`.
 */
function nameJavaScriptInDeclarations(): void {
  for (const file of globSync("**/*.d.ts", { cwd: dist })) {
    const path = join(dist, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/(\bfrom |\bimport\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

/** What the package lets others import or start, each by its place in `dist` and its source. */
function entries(): Record<string, string> {
  const { exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = [...Object.values<{ default?: string }>(exports), { default: `./${bin["connect-actuator"]}` }];
  const names = files.flatMap((file) => file.default?.match(/^\.\/dist\/(.+)\.js$/)?.[1] ?? []);
  return Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)]));
}

/**
 * What entries have in common stands in chunks that they share, so that each class exists once. A tenth of the files is
 * what makes an import quick: Node.js finds, reads and links every one by itself.
 */
async function bundle(): Promise<void> {
  const build = await rolldown({
    input: entries(),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith(root),
  });
  await build.write({
    dir: dist,
    format: "esm",
    sourcemap: true,
    keepNames: true,
    chunkFileNames: "chunks/[name]-[hash].js",
  });
}

try {
  rmSync(dist, { recursive: true, force: true });
  run("tsc", "-p", "tsconfig.build.json");
  nameJavaScriptInDeclarations();
  await bundle();
  // npm does the same where it installs the package; this is for whoever runs what was built here.
  chmodSync(join(dist, "cli", "main.js"), 0o755);
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  console.error(`${error.message}\n${error.output}`);
  process.exitCode = 1;
}
