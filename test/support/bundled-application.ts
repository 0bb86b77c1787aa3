import { join } from "node:path";
import { build } from "esbuild";
import { type ApplicationFolder, applicationFolder } from "./auto-application.ts";

/** esbuild leaves `require` to the module. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/**
 * Writes an application that esbuild has made one file of, `shop.cjs` or `shop.mjs`.
 *
 * @param code of an ES module
 */
export async function bundled(code: string, format: "cjs" | "esm", minify = false): Promise<ApplicationFolder> {
  const application = applicationFolder({ "src/shop.mjs": code });
  await build({
    entryPoints: [join(application.folder, "src/shop.mjs")],
    outfile: join(application.folder, format === "cjs" ? "shop.cjs" : "shop.mjs"),
    bundle: true,
    platform: "node",
    format,
    minify,
    logLevel: "error",
    ...(format === "esm" && { banner: { js: REQUIRE } }),
  });
  return application;
}
