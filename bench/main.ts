/** `npm run bench`: says what can be measured; `npm run bench -- rest` measures it. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const [name, ...options] = process.argv.slice(2);
const benchmarks = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && file !== basename(import.meta.filename))
  .map((file) => basename(file, ".ts"));

if (name !== undefined && benchmarks.includes(name)) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...options], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} else {
  if (name !== undefined) console.error(`There is no benchmark "${name}".\n`);
  console.log("npm run bench -- <name> [--cpu-prof: also say where the servers spend their time]\n");
  const width = Math.max(...benchmarks.map((benchmark) => benchmark.length));
  for (const benchmark of benchmarks) console.log(`  ${benchmark.padEnd(width)}  ${firstSentence(benchmark)}`);
  process.exitCode = name === undefined ? 0 : 1;
}

/** What a benchmark says of itself in the comment that it begins with. */
function firstSentence(benchmark: string): string {
  const text = readFileSync(join(import.meta.dirname, `${benchmark}.ts`), "utf8");
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1]?.replace(/^\s*\*/gm, "") ?? "";
  return comment
    .replace(/\s+/g, " ")
    .trim()
    .split(/(?<=\.) /)[0]!;
}
