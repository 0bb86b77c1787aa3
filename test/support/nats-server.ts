import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KeyPair } from "./certificates.ts";
import { freePort, type RestartableServer, restartable, ServerFolder } from "./server-process.ts";

/** Whether `nats-server` is installed, for `describe.runIf(requirement("nats-server", natsFound))`. */
export const natsFound: boolean = spawnSync("nats-server", ["--version"]).status === 0;

export interface NatsServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** What the server calls itself. Left out: the server's id, anew at every start. */
  readonly serverName?: string;
  /** It answers over TLS alone, with this certificate. */
  readonly tls?: KeyPair;
  /** More of the server's own arguments, such as `["--cluster_name", "c1"]`. */
  readonly args?: readonly string[];
}

/** A real NATS of one test file with JetStream, on 127.0.0.1 and in a folder of its own. Its streams survive `kill`. */
export interface NatsServer extends RestartableServer {
  /** host:port, as NATS's clients take it. */
  readonly url: string;
  readonly port: number;
}

/** Starts a server, ready to answer. It also ends when this process ends in whatever way. */
export async function startNats(options: NatsServerOptions = {}): Promise<NatsServer> {
  const port = options.port ?? (await freePort());
  const folder = new ServerFolder("nats");
  const args = ["-a", "127.0.0.1", "-p", `${port}`, "-js", "-sd", join(folder.path, "data")];
  if (options.serverName !== undefined) args.push("--server_name", options.serverName);
  if (options.tls !== undefined) {
    const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
    writeFileSync(cert, options.tls.cert);
    writeFileSync(key, options.tls.key);
    args.push("--tls", "--tlscert", cert, "--tlskey", key);
  }
  args.push(...(options.args ?? []));
  const server = await restartable(folder, { command: "nats-server", args, ready: /Server is ready/ });
  return Object.defineProperties(
    { url: `127.0.0.1:${port}`, port } as NatsServer,
    Object.getOwnPropertyDescriptors(server),
  );
}
