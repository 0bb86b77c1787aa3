import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { ConfigMap, Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SCHEMA, settingsOf, variableOf } from "../../src/configuration/schema.ts";
import { levelFromText } from "../../src/loggers/level.ts";

const root = join(import.meta.dirname, "..", "..");
const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const variables = new Set(
  settingsOf(SCHEMA).flatMap((setting) =>
    setting.secret === undefined ? [variableOf(setting)] : [variableOf(setting), `${variableOf(setting)}_FILE`],
  ),
);
const KINDS = { ConfigMap, Deployment, Service };

interface Manifest {
  readonly kind: keyof typeof KINDS;
  readonly metadata: { readonly name: string };
  readonly spec?: Pod;
  readonly data?: Readonly<Record<string, string>>;
}
interface Pod {
  readonly template: {
    readonly spec: {
      readonly containers: readonly {
        readonly env: readonly { readonly name: string }[];
        readonly volumeMounts: readonly { readonly name: string }[];
        readonly ports: readonly { readonly name: string }[];
      }[];
      readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
    };
  };
}

const manifests = ["shop", "serve"].flatMap((name) =>
  parseAllDocuments(textOf(`deploy/kubernetes/${name}.yaml`)).map((document) => document.toJS() as Manifest),
);

test("the Compose file has nothing that dclint refuses", () => {
  // It exits with 1 if there is an error.
  const lint = () => execFileSync(join(root, "node_modules/.bin/dclint"), ["deploy/compose.yaml"], { cwd: root });
  expect(lint).not.toThrow();
});

test("the services of the Compose file set options that there are", () => {
  const { services } = parse(textOf("deploy/compose.yaml"), { merge: true });
  const names = Object.values<{ environment?: object }>(services).flatMap(({ environment = {} }) =>
    Object.keys(environment),
  );
  expect(names.filter((name) => !variables.has(name))).toEqual([]);
  expect(names).toContain("ACTUATOR_FLEET_REDIS");
});

test.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
  "%s is as the schema of Kubernetes has it",
  (_, manifest) => {
    const validate = () => new KINDS[manifest.kind](manifest as never).validate();
    expect(validate).not.toThrow();
  },
);

test("a manifest with a mistake is refused", () => {
  const deployment = manifests.find(({ kind }) => kind === "Deployment")!;
  const wrong = { ...deployment, spec: { ...deployment.spec, replicas: "three" } };
  expect(() => new Deployment(wrong as never).validate()).toThrow(/replicas/);
});

test("pods set options that there are, and mount what they name", () => {
  const pods = manifests.flatMap(({ kind, spec }) => (kind === "Deployment" ? [spec!.template.spec] : []));
  expect(pods).toHaveLength(2);
  for (const { containers, volumes } of pods) {
    const names = containers
      .flatMap(({ env }) => env.map(({ name }) => name))
      .filter((name) => /^ACTUATOR_/.test(name));
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
    const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(mounted.sort()).toEqual(volumes.map(({ name }) => name).sort());
    const maps = volumes.flatMap(({ configMap }) => configMap?.name ?? []);
    const written = manifests.flatMap(({ kind, metadata }) => (kind === "ConfigMap" ? [metadata.name] : []));
    expect(maps.filter((name) => !written.includes(name))).toEqual([]);
  }
  const { levels } = manifests.find(({ kind }) => kind === "ConfigMap")!.data!;
  const lines = levels!.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines.map((line) => levelFromText(line.split("=")[1]!))).toEqual(["INFO", "WARN"]);
});
