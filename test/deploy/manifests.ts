import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deployment, type IDeployment, type IStatefulSet, StatefulSet } from "kubernetes-models/apps/v1";
import { type INetworkPolicy, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { ConfigMap, type IConfigMap, type IContainer, type IProbe, type IService, Service } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

/** A manifest of a kind that the deployment uses. */
export type Manifest = IConfigMap | IDeployment | INetworkPolicy | IService | IStatefulSet;

/** A manifest that makes pods. */
export type Workload = IDeployment | IStatefulSet;

const root = join(import.meta.dirname, "..", "..");
const KINDS = { ConfigMap, Deployment, NetworkPolicy, Service, StatefulSet };

/** The text of a file of this repository. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The files in `deploy/kubernetes` as one. */
export const MANIFESTS: string = ["redis", "shop", "serve"]
  .map((name) => textOf(`deploy/kubernetes/${name}.yaml`))
  .join("---\n");

export function manifestsIn(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

export function isWorkload(manifest: Manifest): manifest is Workload {
  return manifest.kind === "Deployment" || manifest.kind === "StatefulSet";
}

export function podOf({ spec }: Workload) {
  return spec!.template.spec!;
}

/** What the schema of Kubernetes has against manifests, with fields that it does not know: the compiler sees these. */
export function schemaFaults(manifests: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-manifests-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  for (const [at, manifest] of manifests.entries()) {
    const { apiVersion, kind } = manifest;
    const code = `(${JSON.stringify(manifest, null, 1)}) satisfies import("kubernetes-models/${apiVersion}").I${kind};`;
    writeFileSync(join(folder, `${at}.ts`), `${code}\nexport {};\n`);
  }
  const compilerOptions = { rootDir: "/" };
  const project = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  try {
    execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", folder], { stdio: "pipe" });
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout).split("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return manifests.flatMap((manifest) => {
    try {
      new KINDS[manifest.kind](manifest as never).validate();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** The probes of a container, by their names. */
export function probesOf({ startupProbe, livenessProbe, readinessProbe }: IContainer): ReadonlyMap<string, IProbe> {
  const probes = Object.entries({ startupProbe, livenessProbe, readinessProbe });
  return new Map(probes.flatMap(([name, probe]) => (probe === undefined ? [] : [[name, probe]])));
}
