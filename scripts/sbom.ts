/**
 * `npm run sbom`: writes `sbom.cdx.json`, the bill of materials of the published package in CycloneDX: what an application gets
 * with it, each with its version, license and hash. It is read off the lock file, so that no network is needed.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run } from "./command.ts";
import { type LockedPackage, lookUpwards } from "./lock-file.ts";

type Packages = Readonly<Record<string, LockedPackage>>;

/**
 * The lock file as an application would have it that brings nothing else. `npm sbom --omit=dev` leaves out what something of
 * the workshop needs as well (npm 11.19.1: jose, @bufbuild/protobuf).
 */
function publishedOnly(packages: Packages): Packages {
  const { devDependencies: _, peerDependencies: __, ...own } = packages[""] as Record<string, unknown> & LockedPackage;
  const published = new Map<string, LockedPackage>([["", own]]);
  for (const [path, { dependencies, optionalDependencies }] of published) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = lookUpwards(path, name).find((each) => each in packages);
      if (place === undefined) throw new Error(`package-lock.json lacks ${name}, which ${path} needs`);
      published.set(place, packages[place]!);
    }
  }
  return Object.fromEntries(published);
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const packages = publishedOnly(lock.packages);
const scratch = mkdtempSync(join(tmpdir(), "connect-actuator-sbom-"));
try {
  writeFileSync(join(scratch, "package.json"), JSON.stringify(packages[""]));
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
