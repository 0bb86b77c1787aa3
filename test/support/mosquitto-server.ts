import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { freePort, type RestartableServer, restartable, ServerFolder } from "./server-process.ts";

// Debian installs it where the PATH of a plain user does not look.
const PATH = [process.env.PATH, "/usr/sbin", "/usr/local/sbin"].join(delimiter);

/** Whether `mosquitto` is installed, for `describe.runIf(requirement("mosquitto", mosquittoFound))`. */
export const mosquittoFound: boolean =
  spawnSync("mosquitto", ["-h"], { env: { ...process.env, PATH } }).error === undefined;

export interface MosquittoServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** More lines of mosquitto.conf, such as "max_inflight_messages 1". */
  readonly config?: readonly string[];
}

/**
 * A real Mosquitto of one test file, on 127.0.0.1 and in a folder of its own, open to all clients. Retained messages and sessions
 * that are more than a second old survive `kill`.
 */
export interface MosquittoServer extends RestartableServer {
  readonly url: string;
  readonly port: number;
}

/** Starts a broker, ready to answer. It also ends when this process ends in whatever way. */
export async function startMosquitto(options: MosquittoServerOptions = {}): Promise<MosquittoServer> {
  const port = options.port ?? (await freePort());
  const folder = new ServerFolder("mosquitto");
  const config = join(folder.path, "mosquitto.conf");
  const settings = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "persistence true",
    `persistence_location ${folder.path}/`,
    "autosave_interval 1",
    "log_dest stderr",
    // Started by root, it would switch to another user, who may not write here. For other users this has no effect.
    "user root",
    ...(options.config ?? []),
  ];
  writeFileSync(config, `${settings.join("\n")}\n`);
  const launch = { command: "mosquitto", args: ["-c", config], env: { PATH }, ready: /mosquitto version .* running/ };
  const server = await restartable(folder, launch);
  return Object.defineProperties(
    { url: `mqtt://127.0.0.1:${port}`, port } as MosquittoServer,
    Object.getOwnPropertyDescriptors(server),
  );
}
