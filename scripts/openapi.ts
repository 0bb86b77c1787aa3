/**
 * Writes `src/http/openapi/template.ts` from `openapi.yaml` beside it, so that no server has to parse YAML; `--check` fails if the file
 * is not current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const folder = join(import.meta.dirname, "../src/http/openapi");
const target = join(folder, "template.ts");

/** The content of `template.ts` for this YAML. */
export function openApiTemplate(yaml: string): string {
  // In single quotes, so that biome leaves it as it is, and JSON needs few escapes.
  const json = JSON.stringify(parse(yaml)).replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  return `// Generated from openapi.yaml by scripts/openapi.ts: npm run generate

/** The OpenAPI document of everything that can be served, as JSON. */
export const OPENAPI_TEMPLATE =
  '${json}';
`;
}

if (import.meta.main) {
  const source = openApiTemplate(readFileSync(join(folder, "openapi.yaml"), "utf8"));
  if (!process.argv.includes("--check")) {
    writeFileSync(target, source);
  } else if (readFileSync(target, "utf8") !== source) {
    console.error("src/http/openapi/template.ts is not what openapi.yaml generates: npm run generate");
    process.exitCode = 1;
  }
}
