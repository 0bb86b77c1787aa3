import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject, vi } from "vitest";
import type { TestProject } from "vitest/node";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { root } from "../documentation/pages.ts";

declare module "vitest" {
  interface ProvidedContext {
    packedFolder: string;
  }
}

/** Vitest calls this once a run. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "connect-actuator-packed-"));
  provide("packedFolder", folder);
  await buildDashboard();
  return () => rm(folder, { recursive: true, force: true });
}

/** The packed package of this test run. The first test file that asks builds it, because builds share the folder `dist`. */
export async function packedPackage(): Promise<string> {
  const folder = inject("packedFolder");
  const building = join(folder, "building");
  const ready = join(folder, "ready");
  const isFirst = await mkdir(building).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    // npm runs "prepack" first, which builds.
    await promisify(execFile)("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
    await mkdir(ready);
  }
  await vi.waitUntil(() => existsSync(ready), { timeout: 100_000, interval: 50 });
  return join(folder, (await readdir(folder)).find((file) => file.endsWith(".tgz"))!);
}
