import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killed, type RunningServer, ServerFolder } from "./server-process.ts";

/** Whether Maven and a JDK are installed, for `describe.runIf(requirement("Maven with a JDK", springBootAdminFound))`. */
export const springBootAdminFound: boolean =
  spawnSync("mvn", ["-v"]).status === 0 && spawnSync("javac", ["-version"]).status === 0;

const project = join(import.meta.dirname, "../operations/spring-boot-admin/server");
const sources = ["pom.xml", "src/main/java/admin/Admin.java"];
const cache = join(import.meta.dirname, "../../node_modules/.cache/connect-actuator");

/** A real Spring Boot Admin server of one test file, on 127.0.0.1. What it knows is in memory, and ends with it. */
export interface SpringBootAdminServer extends RunningServer {
  /** Such as `http://127.0.0.1:40123`, or with `https` where settings of `server.ssl` say so. */
  readonly url: string;
  readonly port: number;
}

/**
 * Starts a server, ready to answer, within some four seconds. It also ends when this process ends in whatever way. It asks for
 * the health and the info of its instances every two seconds, and not every ten, so that tests need not wait.
 *
 * @param settings properties of Spring Boot, such as `{ "server.port": "8080" }`. With `spring.security.user.password` the
 *   server asks the user `user` for it (Basic); without it, all requests are accepted.
 * @param jvmOptions such as `["-Djavax.net.ssl.trustStore=trust.p12"]`
 */
export async function startSpringBootAdmin(
  settings: Record<string, string> = {},
  jvmOptions: readonly string[] = [],
): Promise<SpringBootAdminServer> {
  const jar = await springBootAdminJar();
  const folder = new ServerFolder("spring-boot-admin");
  const properties = {
    "server.port": "0",
    "server.address": "127.0.0.1",
    "spring.boot.admin.monitor.status-interval": "2s",
    "spring.boot.admin.monitor.status-lifetime": "1s",
    "spring.boot.admin.monitor.info-interval": "2s",
    "spring.boot.admin.monitor.info-lifetime": "1s",
    ...settings,
  };
  const args = ["-Xmx256m", "-XX:TieredStopAtLevel=1", `-Djava.io.tmpdir=${folder.path}`, ...jvmOptions, "-jar", jar];
  args.push(...Object.entries(properties).map(([name, value]) => `--${name}=${value}`));
  const launch = { command: "java", args, ready: /Tomcat started on port (\d+) \((https?)\)/ };
  const { process: server, match } = await folder.run(launch).catch(async (error) => {
    await folder.remove();
    throw error;
  });
  const port = Number(match[1]);
  const stop = () => folder.remove();
  return {
    host: "127.0.0.1",
    port,
    url: `${match[2]}://127.0.0.1:${port}`,
    pid: server.pid!,
    stop,
    kill: () => killed(server),
    freeze: () => void server.kill("SIGSTOP"),
    thaw: () => void server.kill("SIGCONT"),
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Builds the server where it is not there yet: with Maven, which fetches it from Maven Central. Takes some ten seconds the
 * first time.
 */
export async function springBootAdminJar(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of sources) hash.update(readFileSync(join(project, source)));
  const jar = join(cache, `spring-boot-admin-${hash.digest("hex").slice(0, 12)}.jar`);
  if (existsSync(jar)) return jar;
  mkdirSync(cache, { recursive: true });
  // Another process may build at the same time: the jar appears as a whole or not at all.
  const output = mkdtempSync(join(cache, "build-"));
  try {
    const args = ["-q", "-B", "-f", join(project, "pom.xml"), `-Doutput=${output}`, "package"];
    await promisify(execFile)("mvn", args, { cwd: tmpdir() });
    renameSync(join(output, "admin.jar"), jar);
  } catch (error) {
    throw new Error(`Maven did not build the server:\n${(error as { stdout?: string }).stdout ?? error}`);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
  return jar;
}
