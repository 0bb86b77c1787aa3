import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { IConfigMap } from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SCHEMA, settingsOf, variableOf } from "../../src/configuration/schema.ts";
import { levelFromText } from "../../src/loggers/level.ts";
import { referenceFaults } from "./manifest-references.ts";
import { isWorkload, MANIFESTS, manifestsIn, podOf, schemaFaults, textOf } from "./manifests.ts";

const root = join(import.meta.dirname, "..", "..");
const variables = new Set(
  settingsOf(SCHEMA).flatMap((setting) =>
    setting.secret === undefined ? [variableOf(setting)] : [variableOf(setting), `${variableOf(setting)}_FILE`],
  ),
);
const manifests = manifestsIn(MANIFESTS);
const page = textOf("docs/deployment.md");
/** The Secret that the page creates from a folder, and the files in it. */
const [, secret = ""] = /create secret generic (\S+) --from-file deploy\/secrets\b/.exec(page) ?? [];
const secrets = { [secret]: [...page.matchAll(/deploy\/secrets\/([\w.-]+)/g)].map(([, file]) => file!) };

describe("the Compose file", () => {
  test("has nothing that dclint refuses", () => {
    // It exits with 1 if there is an error.
    const lint = () => execFileSync(join(root, "node_modules/.bin/dclint"), ["deploy/compose.yaml"], { cwd: root });
    expect(lint).not.toThrow();
  });

  test("sets options that exist, and takes the secrets that the page creates", () => {
    const compose = parse(textOf("deploy/compose.yaml"), { merge: true });
    const names = Object.values<{ environment?: object }>(compose.services).flatMap(({ environment = {} }) =>
      Object.keys(environment),
    );
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
    expect(names).toContain("ACTUATOR_FLEET_REDIS");
    for (const { file } of Object.values<{ file: string }>(compose.secrets)) {
      expect(secrets[secret]).toContain(file.replace("secrets/", ""));
    }
  });
});

describe("the manifests", () => {
  test("fit the schema of Kubernetes", () => expect(schemaFaults(manifests)).toEqual([]));

  test("refer to what exists, by valid names", () => expect(referenceFaults(manifests, secrets)).toEqual([]));

  test.each([
    ["'string' is not assignable to type 'number'", "replicas: 3", "replicas: three"],
    ["'\"readynessProbe\"' does not exist", "readinessProbe:", "readynessProbe:"],
    ["'\"targedPort\"' does not exist", "targetPort:", "targedPort:"],
    ["memory", "memory: 64Mi", "memory: 64 MB"],
  ])("with a mistake do not fit the schema: %s", (fault, right, wrong) => {
    expect(MANIFESTS).toContain(right);
    expect(schemaFaults(manifestsIn(MANIFESTS.replace(right, wrong))).join("\n")).toContain(fault);
  });

  test.each([
    ["99001 is not a port", "containerPort: 9001", "containerPort: 99001"],
    ["0 is not a port", "port: 6379", "port: 0"],
    ["ConfigMap shop_levels is not a valid name", "name: shop-levels", "name: shop_levels"],
    ["Actuator is not a valid name", "- name: actuator\n              c", "- name: Actuator\n              c"],
    ["the selector of shop does not match", "matchLabels:\n      app: shop", "matchLabels:\n      app: shops"],
    ['no pod has the labels {"app":"radis"}', "selector:\n    app: redis", "selector:\n    app: radis"],
    [
      'no pod has the labels {"app":"ship"}',
      "            matchLabels:\n              app: shop",
      "            matchLabels:\n              app: ship",
    ],
    ["the container shop has no port http", "targetPort: actuator", "targetPort: http"],
    ["the container shop has no port 9002", "liveness, port: actuator", "liveness, port: 9002"],
    ["the container redis has no port radis", "tcpSocket: { port: redis }", "tcpSocket: { port: radis }"],
    ["there is no volume more", "mountPath: /data", "mountPath: /data\n            - { name: more, mountPath: /more }"],
    ["nothing mounts tokens", "- name: tokens\n              m", "- name: levels\n              m"],
    [
      "there is no ConfigMap levels",
      "configMap:\n            name: shop-levels",
      "configMap:\n            name: levels",
    ],
    ["there is no Secret secrets", "secretName: shop-secrets", "secretName: secrets"],
    ["Secret shop-secrets has no key redis", "key: redis-url", "key: redis"],
    ["Secret shop-secrets has no key fleet-token", "key: fleet.token", "key: fleet-token"],
    ["ACTUATOR_FLEET_ADDRESS needs POD_IP before it", "- name: POD_IP\n", "- name: POD\n"],
    ["ACTUATOR_FLEET_REDIS is there twice", "- name: ACTUATOR_FLEET_NAME", "- name: ACTUATOR_FLEET_REDIS"],
    ["there is no Service radis", "serviceName: redis", "serviceName: radis"],
  ])("with a mistake are refused: %s", (fault, right, wrong) => {
    expect(MANIFESTS).toContain(right);
    expect(referenceFaults(manifestsIn(MANIFESTS.replace(right, wrong)), secrets).join("\n")).toContain(fault);
  });

  test("set options that exist, and levels that exist", () => {
    const env = manifests.filter(isWorkload).flatMap((workload) => podOf(workload).containers[0]!.env ?? []);
    const names = env.map(({ name }) => name).filter((name) => name.startsWith("ACTUATOR_"));
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
    expect(names).toContain("ACTUATOR_FLEET_REDIS");
    const { levels } = (manifests.find(({ kind }) => kind === "ConfigMap") as IConfigMap).data!;
    const lines = levels!.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines.map((line) => levelFromText(line.split("=")[1]!))).toEqual(["INFO", "WARN"]);
  });

  test("have a Service at the address of Redis that the page puts into the Secret", () => {
    const [, host, port] = /redis:\/\/([\w-]+):(\d+) > deploy\/secrets\/redis-url/.exec(page) ?? [];
    const service = manifests.find(({ kind, metadata }) => kind === "Service" && metadata!.name === host);
    expect(service).toMatchObject({ spec: { ports: [{ port: Number(port) }] } });
  });

  test("run the images that the page and the Dockerfile build", () => {
    const tagsIn = (text: string) => [...text.matchAll(/docker build .*?--tag (\S+)/g)].map(([, tag]) => tag).sort();
    const images = manifests.filter(isWorkload).map((workload) => podOf(workload).containers[0]!.image);
    const built = images.filter((image) => image?.startsWith("connect-actuator")).sort();
    expect(built).toHaveLength(2);
    expect([tagsIn(page), tagsIn(textOf("Dockerfile"))]).toEqual([built, built]);
  });
});

test("images have a user whom Kubernetes accepts as not root", () => {
  const users = [...textOf("Dockerfile").matchAll(/^USER (.*)$/gm)].map(([, user]) => user);
  expect(users).toEqual(["1000", "1000"]);
});
