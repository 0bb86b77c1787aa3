/**
 * `npm run sbom`: writes `sbom.cdx.json`, the bill of materials of the published package in CycloneDX: what an application gets
 * with it and what is bundled into it, each with its version, license and hash. It is read from the lock file, without network.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLED } from "./bundled.ts";
import { root, run } from "./command.ts";
import { type LockedPackage, lookUpwards } from "./lock-file.ts";

type Packages = Readonly<Record<string, LockedPackage>>;

/**
 * The lock file as an application without other dependencies would have it. `npm sbom --omit=dev` leaves out what a development
 * tool needs as well (npm 11.19.1: jose, @bufbuild/protobuf).
 */
function publishedOnly(packages: Packages): Packages {
  const { devDependencies, ...own } = packages[""] as Required<LockedPackage>;
  const bundled = BUNDLED.map((name) => [name, packages[`node_modules/${name}`]!.version]);
  const dependencies = { ...own.dependencies, ...Object.fromEntries(bundled) };
  const published = new Map<string, LockedPackage>([["", { ...own, dependencies }]]);
  for (const [path, { dependencies, optionalDependencies }] of published) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = lookUpwards(path, name).find((each) => each in packages);
      if (place === undefined) throw new Error(`package-lock.json lacks ${name}, which ${path} needs`);
      const { dev: _, ...entry } = packages[place]!;
      published.set(place, entry);
    }
  }
  return Object.fromEntries(published);
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const packages = publishedOnly(lock.packages);
const scratch = mkdtempSync(join(tmpdir(), "connect-actuator-sbom-"));
try {
  // The addresses, once package.json has them.
  const { repository, bugs, homepage } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(scratch, "package.json"), JSON.stringify({ ...packages[""], repository, bugs, homepage }));
  writeFileSync(join(scratch, "package-lock.json"), JSON.stringify({ ...lock, packages }));
  const written = run("npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--prefix", scratch);
  const bill = JSON.parse(written);
  // npm names it after the folder.
  bill.metadata.component.name = lock.name;
  writeFileSync(join(root, "sbom.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
  console.log(`sbom.cdx.json: ${bill.components.length} components`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
