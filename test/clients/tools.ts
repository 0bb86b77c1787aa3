import { spawnSync } from "node:child_process";

/** What a program says of its version; undefined where it is not there, does not run, or says nothing that matches. */
export function versionOf(command: string, args: readonly string[], wanted: RegExp): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: 60_000 });
  return status === 0 ? `${stdout}${stderr}`.match(wanted)?.[0] : undefined;
}

/** Go that builds the examples, whose libraries ask for 1.26. From 1.21 on it fetches by itself what its modules ask for. */
export const go = versionOf("go", ["version"], /go1\.(2[1-9]|[3-9]\d)\S*/);
export const maven = versionOf("mvn", ["--version"], /Apache Maven 3\.[6-9]\S*/);
/** A compiler, and not the runtime alone. */
export const jdk = versionOf("javac", ["-version"], /javac (1[7-9]|[2-9]\d)\S*/);
/** A Python that can make virtual environments; Debian packs `ensurepip` apart. */
export const python = versionOf("python3", ["-c", "import ensurepip, venv, sys; print(sys.version)"], /3\.\d+\.\d+/);
export const curl = versionOf("curl", ["--version"], /curl \S+/);
export const jq = versionOf("jq", ["--version"], /jq-\S+/);
