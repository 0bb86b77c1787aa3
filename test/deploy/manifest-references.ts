import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IConfigMap, IContainer, IService, IVolume } from "kubernetes-models/v1";
import { isWorkload, type Manifest, podOf, probesOf, type Workload } from "./manifests.ts";

/** The keys of each ConfigMap and Secret, by kind and name. */
type Keys = ReadonlyMap<string, readonly string[]>;
type Labels = Readonly<Record<string, string>>;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const PORT_NAME = /^(?=.*[a-z])[a-z0-9](-?[a-z0-9]){0,14}$/;

/**
 * What is wrong with manifests that fit the schema: names, ports, and references from one to another.
 *
 * @param secrets the keys of each Secret, by its name: no manifest has them
 */
export function referenceFaults(
  manifests: readonly Manifest[],
  secrets: Readonly<Record<string, readonly string[]>>,
): string[] {
  const workloads = manifests.filter(isWorkload);
  const maps = manifests.filter((manifest): manifest is IConfigMap => manifest.kind === "ConfigMap");
  const keys: Keys = new Map([
    ...Object.entries(secrets).map(([name, names]): [string, readonly string[]] => [`Secret ${name}`, names]),
    ...maps.map(({ metadata, data = {} }): [string, string[]] => [`ConfigMap ${metadata!.name}`, Object.keys(data)]),
  ]);
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata!.name}`);
  return [
    ...nameFaults(names, /^\w+ /),
    ...workloads.flatMap((workload) => workloadFaults(workload, keys, names)),
    ...manifests.flatMap((manifest) => {
      if (manifest.kind === "Service") return serviceFaults(manifest, workloads);
      return manifest.kind === "NetworkPolicy" ? policyFaults(manifest, workloads) : [];
    }),
  ];
}

function workloadFaults(workload: Workload, keys: Keys, names: readonly string[]): string[] {
  const { metadata, spec } = workload;
  const { containers, volumes = [] } = podOf(workload);
  const claims = workload.kind === "StatefulSet" ? (workload.spec!.volumeClaimTemplates ?? []) : [];
  const mountable = [...volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata!.name!)];
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
  const service = workload.kind === "StatefulSet" ? `Service ${workload.spec!.serviceName}` : undefined;
  return [
    ...(hasLabels(workload, spec!.selector.matchLabels)
      ? []
      : [`the selector of ${metadata!.name} does not match its own pods`]),
    ...(service === undefined || names.includes(service) ? [] : [`there is no ${service}`]),
    ...nameFaults(mountable),
    ...nameFaults(containers.map(({ name }) => name)),
    ...mounts.filter((name) => !mountable.includes(name)).map((name) => `there is no volume ${name}`),
    ...mountable.filter((name) => !mounts.includes(name)).map((name) => `nothing mounts ${name}`),
    ...volumes.flatMap((volume) => volumeFaults(volume, keys)),
    ...containers.flatMap((container) => containerFaults(container, keys)),
  ];
}

function volumeFaults({ configMap, secret }: IVolume, keys: Keys): string[] {
  const name = configMap === undefined ? `Secret ${secret?.secretName}` : `ConfigMap ${configMap.name}`;
  return keyFaults(
    name,
    (configMap?.items ?? secret?.items ?? []).map(({ key }) => key),
    keys,
  );
}

function containerFaults(container: IContainer, keys: Keys): string[] {
  const { env = [], ports = [] } = container;
  const names = ports.map(({ name }) => name!);
  const probed = [...probesOf(container).values()].flatMap(({ httpGet, tcpSocket }) => httpGet ?? tcpSocket ?? []);
  return [
    ...repeated(names),
    ...names.filter((name) => !PORT_NAME.test(name)).map(invalidName),
    ...ports.flatMap(({ containerPort }) => numberFaults(containerPort)),
    ...probed.flatMap(({ port }) => portFaults(container, port)),
    ...repeated(env.map(({ name }) => name)),
    ...env.flatMap(({ name, value = "", valueFrom: { secretKeyRef, configMapKeyRef } = {} }, at) => [
      ...(secretKeyRef ? keyFaults(`Secret ${secretKeyRef.name}`, [secretKeyRef.key], keys) : []),
      ...(configMapKeyRef ? keyFaults(`ConfigMap ${configMapKeyRef.name}`, [configMapKeyRef.key], keys) : []),
      // Kubernetes replaces only variables that were defined before.
      ...Array.from(value.matchAll(/\$\(([^)]+)\)/g), ([, used]) => used!)
        .filter((used) => !env.slice(0, at).some((before) => before.name === used))
        .map((used) => `${name} needs ${used} before it`),
    ]),
  ];
}

function serviceFaults({ spec }: IService, workloads: readonly Workload[]): string[] {
  const pods = workloads.filter((workload) => hasLabels(workload, spec!.selector));
  return [
    ...labelFaults(spec!.selector, workloads),
    ...spec!.ports!.flatMap(({ port, targetPort = port }) => [
      ...numberFaults(port),
      ...pods.flatMap((pod) => portFaults(podOf(pod).containers[0]!, targetPort)),
    ]),
  ];
}

function policyFaults({ spec }: INetworkPolicy, workloads: readonly Workload[]): string[] {
  const labels = spec!.podSelector?.matchLabels;
  const pods = workloads.filter((workload) => hasLabels(workload, labels));
  return [
    ...labelFaults(labels, workloads),
    ...(spec!.ingress ?? []).flatMap(({ from = [], ports = [] }) => [
      ...from.flatMap(({ podSelector }) => labelFaults(podSelector?.matchLabels, workloads)),
      ...ports.flatMap(({ port }) => pods.flatMap((pod) => portFaults(podOf(pod).containers[0]!, port))),
    ]),
  ];
}

function hasLabels({ spec }: Workload, wanted: Labels = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => spec!.template.metadata?.labels?.[key] === value);
}

function labelFaults(wanted: Labels = {}, workloads: readonly Workload[]): string[] {
  const isFound = workloads.some((workload) => hasLabels(workload, wanted));
  return isFound ? [] : [`no pod has the labels ${JSON.stringify(wanted)}`];
}

function keyFaults(name: string, wanted: readonly string[], keys: Keys): string[] {
  const known = keys.get(name);
  if (known === undefined) return [`there is no ${name}`];
  return wanted.filter((key) => !known.includes(key)).map((key) => `${name} has no key ${key}`);
}

function portFaults({ name, ports = [] }: IContainer, wanted: string | number | undefined): string[] {
  const isThere = ports.some((port) => port.name === wanted || port.containerPort === wanted);
  return isThere ? [] : [`the container ${name} has no port ${wanted}`];
}

function numberFaults(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? [] : [`${port} is not a port`];
}

function nameFaults(names: readonly string[], prefix = /^/): string[] {
  return [...repeated(names), ...names.filter((name) => !NAME.test(name.replace(prefix, ""))).map(invalidName)];
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, at) => names.indexOf(name) < at).map((name) => `${name} is there twice`);
}

function invalidName(name: string): string {
  return `${name} is not a valid name`;
}
