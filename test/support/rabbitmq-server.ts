import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fastParent, freePorts, type RestartableServer, restartable, ServerFolder } from "./server-process.ts";

/** The folder of RabbitMQ's own scripts. Debian's on PATH are wrappers that insist on one user and one node. */
const programs = ["/usr/lib/rabbitmq/bin", ...(process.env.PATH ?? "").split(delimiter)].find((folder) =>
  isExecutable(join(folder, "rabbitmq-server")),
);

/** Whether RabbitMQ is installed, for `describe.runIf(requirement("rabbitmq-server", rabbitmqFound))`. */
export const rabbitmqFound: boolean = programs !== undefined;

export interface RabbitmqServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** What the broker calls itself: `cluster_name` of its server properties. Default: "test". */
  readonly clusterName?: string;
  /** Virtual hosts beside "/", open to the user `guest`. */
  readonly vhosts?: readonly string[];
  /** Plugins, such as "rabbitmq_mqtt"; without any it starts fastest. */
  readonly plugins?: readonly string[];
  /** More lines of rabbitmq.conf, such as "heartbeat = 2". */
  readonly config?: readonly string[];
}

/**
 * A real RabbitMQ of one test file, on 127.0.0.1 and in a folder of its own, for root and for any other user. It takes some six
 * seconds to start: share it within the file. The user `guest` may do everything. Durable queues and persistent messages that it
 * confirmed survive `kill`.
 */
export interface RabbitmqServer extends RestartableServer {
  /** Of the virtual host "/", with user and password. */
  readonly url: string;
  readonly port: number;
  readonly clusterName: string;
  /** Of another virtual host. */
  vhostUrl(vhost: string): string;
  /** Runs rabbitmqctl for this broker, such as `ctl("list_queues", "name")`, and gives back its output. Takes seconds. */
  ctl(...args: readonly string[]): Promise<string>;
}

/** Starts a broker, ready to answer. It also ends when this process ends in whatever way. */
export async function startRabbitmq(options: RabbitmqServerOptions = {}): Promise<RabbitmqServer> {
  try {
    return await start(options);
  } catch (error) {
    if (options.port !== undefined) throw error;
    // Three ports were free a moment ago: another process may have taken one.
    return start(options);
  }
}

async function start(options: RabbitmqServerOptions): Promise<RabbitmqServer> {
  const { clusterName = "test", vhosts = [], plugins = [], config = [] } = options;
  const [distribution, names, free] = (await freePorts(3)) as [number, number, number];
  const port = options.port ?? free;
  const folder = new ServerFolder("rabbitmq", fastParent());
  const file = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text);
    return join(folder.path, name);
  };
  const definitions = file("definitions.json", JSON.stringify(definitionsOf(["/", ...vhosts])));
  const settings = [
    `listeners.tcp.1 = 127.0.0.1:${port}`,
    `cluster_name = ${clusterName}`,
    `load_definitions = ${definitions}`,
    "log.file = false",
    "log.console = true",
    // On a disk that is nearly full the broker would block its publishers.
    "disk_free_limit.absolute = 1MB",
    ...config,
  ];
  const env = {
    // Erlang's cookie, which opens this node to its tools, is made here.
    HOME: folder.path,
    // Erlang's register of node names, on a port of its own: neither does anything find this node, nor it another one.
    ERL_EPMD_PORT: `${names}`,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `connect-actuator-${port}@localhost`,
    RABBITMQ_DIST_PORT: `${distribution}`,
    RABBITMQ_CONF_ENV_FILE: file("rabbitmq-env.conf", ""),
    RABBITMQ_CONFIG_FILE: file("rabbitmq.conf", `${settings.join("\n")}\n`),
    RABBITMQ_ADVANCED_CONFIG_FILE: file("advanced.config", "[].\n"),
    RABBITMQ_ENABLED_PLUGINS_FILE: file("enabled_plugins", `[${plugins.join(",")}].\n`),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder.path, "generated"),
    RABBITMQ_MNESIA_BASE: join(folder.path, "data"),
    RABBITMQ_LOG_BASE: join(folder.path, "log"),
    RABBITMQ_PID_FILE: join(folder.path, "pid"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2",
    // The script then becomes the broker, instead of a parent that a signal would leave it behind.
    RUNNING_UNDER_SYSTEMD: "true",
  };
  try {
    const epmd = ["-d", "-d", "-port", `${names}`, "-address", "127.0.0.1"];
    await folder.run({ command: "epmd", args: epmd, ready: /entering the main select/ });
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const server = await restartable(folder, {
    command: join(programs!, "rabbitmq-server"),
    args: [],
    env,
    ready: /Server startup complete/,
  });
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  return {
    ...server,
    // A getter does not survive the spreading.
    get pid() {
      return server.pid;
    },
    url,
    port,
    clusterName,
    vhostUrl: (vhost) => `${url}/${encodeURIComponent(vhost)}`,
    async ctl(...args) {
      const all = ["--quiet", "--node", env.RABBITMQ_NODENAME, ...args];
      const options = { env: { ...process.env, ...env }, cwd: folder.path };
      return (await promisify(execFile)(join(programs!, "rabbitmqctl"), all, options)).stdout;
    },
  };
}

function definitionsOf(vhosts: readonly string[]): object {
  const everything = { configure: ".*", write: ".*", read: ".*" };
  return {
    users: [{ name: "guest", password: "guest", tags: "administrator" }],
    vhosts: vhosts.map((name) => ({ name })),
    permissions: vhosts.map((vhost) => ({ user: "guest", vhost, ...everything })),
  };
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
