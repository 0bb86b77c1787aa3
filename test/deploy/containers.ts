import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";
import { MAIN } from "../cli/cli-process.ts";
import { redisFound } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { ServerFolder } from "../support/server-process.ts";

const root = join(import.meta.dirname, "..", "..");

/** Only Linux answers at all loopback addresses. */
export const CAN_RUN: boolean = requirement("redis-server", redisFound) && process.platform === "linux";

/** What the Dockerfile says of an image. */
export interface Image {
  readonly command: readonly string[];
  readonly exposed: readonly number[];
  readonly healthcheck: readonly string[];
}

/** Reads a stage of the Dockerfile. */
export function imageOf(stage: "sample" | "serve"): Image {
  const text = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const [, lines = ""] = new RegExp(`^FROM \\S+ AS ${stage}\n(.*?)(?=^FROM|$(?!\n))`, "ms").exec(text) ?? [];
  const list = (keyword: RegExp) => JSON.parse(new RegExp(`^${keyword.source} (\\[.*\\])$`, "m").exec(lines)![1]!);
  return {
    command: [...list(/ENTRYPOINT/), ...list(/CMD/)],
    exposed: /^EXPOSE (.*)$/m.exec(lines)![1]!.split(" ").map(Number),
    healthcheck: list(/HEALTHCHECK .* CMD/),
  };
}

/** What makes each command ready to answer. */
const READY = /^connect-actuator serves|Ctrl-C ends the shop|Ready to accept connections/;

/**
 * The processes of containers, on this machine. Each has a loopback address of its own, so that every port is the one that the
 * deployment names. Files have their paths below one folder.
 */
export class Containers implements AsyncDisposable {
  readonly #folder = new ServerFolder("containers");
  readonly #network = `127.${randomInt(2, 255)}.${randomInt(256)}`;
  readonly #addresses = new Map<string, string>();

  /** The address of a container, by its host name. */
  address(host: string): string {
    const known = this.#addresses.get(host);
    if (known !== undefined) return known;
    const address = `${this.#network}.${this.#addresses.size + 1}`;
    this.#addresses.set(host, address);
    return address;
  }

  /** Writes a file that containers see at `path`. Returns where it is on this machine. */
  write(path: string, text: string): string {
    const file = join(this.#folder.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Starts a container of an image, and waits until it is ready. Its address takes the place of 0.0.0.0. */
  async start(host: string, stage: "sample" | "serve", env: Readonly<Record<string, string>>): Promise<void> {
    const [, ...args] = imageOf(stage).command.map((arg) => this.#argument(arg, host));
    // Visitors at a shop would only cost time, and all shops have the same port.
    const quiet = stage === "sample" ? ["--shop-port", "0", "--no-traffic"] : [];
    const entries = Object.entries(env).map(([name, value]) => [name, this.#here(value, host)]);
    await this.#folder.run({
      command: process.execPath,
      args: [...args, ...quiet],
      env: Object.fromEntries(entries),
      ready: READY,
    });
  }

  /** Starts a container of a program that imports the package, and waits until it has loaded. */
  async startProgram(host: string, code: string): Promise<void> {
    const source = code.replace('"connect-actuator"', JSON.stringify(join(root, "src", "index.ts")));
    const file = this.write(join(host, "app.mts"), `${this.#here(source, host)}\nconsole.log("loaded");`);
    await this.#folder.run({ command: process.execPath, args: [file], ready: /^loaded$/ });
  }

  /** Starts a container of Redis with the command of a deployment, and waits until it is ready. */
  async startRedis(host: string, [command, ...args]: readonly string[]): Promise<void> {
    const here = ["--bind", this.address(host), "--dir", this.#folder.path];
    await this.#folder.run({ command: command!, args: [...args, ...here], ready: READY });
  }

  /** Runs a command as if it were in a container. Returns its exit code. */
  run(host: string, [command, ...args]: readonly string[]): Promise<number> {
    const [program = "", ...first] = this.#program(command!, host);
    const all = [...first, ...args.map((arg) => this.#here(arg, host))];
    const env = { ...process.env, ACTUATOR_URL: `http://${this.address(host)}:9001` };
    return new Promise((resolve) => {
      execFile(program, all, { env }, (error) => resolve(error === null ? 0 : Number(error.code)));
    });
  }

  /** GET of a path at a port of a container, by another host name than its own. Returns the HTTP status and the body. */
  get(
    host: string,
    port: number,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<[number, string]> {
    const { promise, resolve, reject } = Promise.withResolvers<[number, string]>();
    const from = { host: this.address(host), port, path, headers: { ...headers, Host: `10.1.2.3:${port}` } };
    const sent = request(from, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve([response.statusCode!, text]);
    });
    sent.on("error", reject).end();
    return promise;
  }

  /** Whether a container accepts connections at a port. */
  listens(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(port, this.address(host), () => resolve(true));
      socket.on("connect", () => socket.destroy()).on("error", () => resolve(false));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#folder.remove();
  }

  #program(command: string, host: string): string[] {
    if (command === "node") return [process.execPath];
    if (command === "redis-cli") return [command, "-h", this.address(host)];
    return command.endsWith("/connect-actuator") ? [process.execPath, MAIN] : [command];
  }

  /** A text of a container with the addresses and paths of this machine. */
  #here(text: string, host: string): string {
    const hosts = [...this.#addresses.keys()].join("|");
    return text
      .replaceAll(new RegExp(`(?<=//)(?:${hosts})(?=:)`, "g"), (name) => this.address(name))
      .replaceAll(/0\.0\.0\.0|127\.0\.0\.1(?=:9001)/g, this.address(host))
      .replaceAll(/(?<![\w.])\/(?=(?:run|etc)\/)/g, `${this.#folder.path}/`);
  }

  /** Files of the images are those of this repository. A configuration file is copied, with the addresses and paths of this machine. */
  #argument(arg: string, host: string): string {
    const file = join(root, arg.replace("node_modules/connect-actuator/", ""));
    if (!arg.includes("/") || !existsSync(file)) return arg;
    if (!file.endsWith(".json")) return file;
    return this.write(join(host, basename(file)), this.#here(readFileSync(file, "utf8"), host));
  }
}
