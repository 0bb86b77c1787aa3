import type { IConfigMap, IContainer } from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { blocksOf } from "../documentation/pages.ts";
import { CAN_RUN, Containers, imageOf } from "./containers.ts";
import { referenceFaults } from "./manifest-references.ts";
import { isWorkload, MANIFESTS, manifestsIn, podOf, probesOf, schemaFaults, type Workload } from "./manifests.ts";
import { createSecrets, listed } from "./secrets.ts";

const manifests = manifestsIn(MANIFESTS);
const pods = manifests.filter(isWorkload).map((workload) => ({
  workload,
  name: `${workload.metadata!.name}`,
  container: podOf(workload).containers[0]!,
}));

/** Writes the files that a pod mounts from ConfigMaps and Secrets. */
function mount(workload: Workload, secrets: Readonly<Record<string, string>>, containers: Containers): void {
  const { volumes = [], containers: all } = podOf(workload);
  for (const { name, configMap, secret } of volumes) {
    const { mountPath } = all[0]!.volumeMounts!.find((mount) => mount.name === name)!;
    const isOf = ({ kind, metadata }: (typeof manifests)[number]) => {
      return kind === "ConfigMap" && metadata!.name === configMap?.name;
    };
    const map = manifests.find(isOf) as IConfigMap | undefined;
    for (const [key, text] of Object.entries(map?.data ?? {})) containers.write(`${mountPath}/${key}`, text);
    for (const { key, path } of secret?.items ?? []) containers.write(`${mountPath}/${path}`, secrets[key]!);
  }
}

/** The environment of a container as Kubernetes makes it. */
function environmentOf(
  { env = [] }: IContainer,
  pod: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const made: Record<string, string> = {};
  for (const { name, value = "", valueFrom: { fieldRef, secretKeyRef } = {} } of env) {
    const found = fieldRef ? pod[fieldRef.fieldPath] : secretKeyRef ? secrets[secretKeyRef.key] : value;
    made[name] = found!.replace(/\$\((\w+)\)/g, (whole, used) => made[used] ?? whole);
  }
  return made;
}

describe.runIf(CAN_RUN)("what the manifests start", () => {
  test("answers its probes at the ports that they name, and is one fleet", async () => {
    await using containers = new Containers();
    const { operator, files } = await createSecrets();
    for (const { name } of pods) containers.address(name);
    await Promise.all(
      pods.map(({ workload, name, container }) => {
        if (container.image!.startsWith("redis:")) return containers.startRedis(name, container.args!);
        mount(workload, files, containers);
        const pod = { "metadata.name": `${name}-1`, "status.podIP": containers.address(name) };
        const stage = container.image!.startsWith("connect-actuator-sample") ? "sample" : "serve";
        return containers.start(name, stage, environmentOf(container, pod, files));
      }),
    );

    for (const { name, container } of pods) {
      const { ports = [], image = "" } = container;
      for (const { containerPort } of ports)
        expect([name, containerPort, await containers.listens(name, containerPort)]).toEqual([
          name,
          containerPort,
          true,
        ]);
      if (!image.startsWith("redis:")) {
        const { exposed } = imageOf(image.startsWith("connect-actuator-sample") ? "sample" : "serve");
        expect(exposed).toEqual(ports.map(({ containerPort }) => containerPort));
      }
      const probes = probesOf(container);
      expect([...probes.keys()]).toEqual(["startupProbe", "livenessProbe", "readinessProbe"]);
      for (const [probe, { httpGet, exec, tcpSocket }] of probes) {
        const { containerPort } = ports.find((port) => port.name === (httpGet ?? tcpSocket)?.port) ?? ports[0]!;
        if (httpGet) {
          const [status] = await containers.get(name, containerPort, httpGet.path!);
          expect([name, probe, status]).toEqual([name, probe, 200]);
        } else if (exec) expect([name, probe, await containers.run(name, exec.command!)]).toEqual([name, probe, 0]);
        else expect([name, probe, tcpSocket]).toEqual([name, probe, { port: ports[0]!.name }]);
      }
    }

    const at = ["--url", `http://${containers.address("connect-actuator")}:9001`, "--token", operator];
    await expect.poll(() => listed(at)).toEqual(["shop-1 eu"]);
    const headers = { Authorization: `Bearer ${operator}` };
    const [, logger] = await containers.get("shop", 9001, "/actuator/loggers/shop.web", headers);
    expect(JSON.parse(logger)).toMatchObject({ effectiveLevel: "WARN" });
  });
});

describe("the guide to containers", () => {
  const blocks = blocksOf("ts", "dockerfile", "yaml").filter(({ page }) => page === "docs/guides/containers.md");
  const codeIn = (language: string) => blocks.find((block) => block.language === language)!.code;
  const guide = manifestsIn(codeIn("yaml"));

  test("has a manifest that Kubernetes accepts", () => {
    expect(schemaFaults(guide)).toEqual([]);
    expect(referenceFaults(guide, { "shop-actuator-tokens": ["actuator-tokens.json"] })).toEqual([]);
  });

  test.runIf(CAN_RUN)("has a program that answers its health check and probes", async () => {
    await using containers = new Containers();
    const { files } = await createSecrets();
    containers.write("/run/secrets/actuator-tokens.json", files["tokens.json"]!);
    await containers.startProgram("shop", codeIn("ts"));
    const healthcheck = JSON.parse(/HEALTHCHECK .* CMD (\[.*\])/.exec(codeIn("dockerfile"))![1]!);
    expect(await containers.run("shop", healthcheck)).toBe(0);
    const { ports = [], ...container } = podOf(guide.find(isWorkload)!).containers[0]!;
    const probes = [...probesOf(container).values()];
    expect(probes).toHaveLength(2);
    for (const { httpGet } of probes) {
      const { containerPort } = ports.find(({ name }) => name === httpGet!.port)!;
      expect(await containers.get("shop", containerPort, httpGet!.path!)).toEqual([200, '{"status":"UP"}']);
    }
  });
});
