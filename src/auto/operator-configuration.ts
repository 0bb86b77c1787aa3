import cluster from "node:cluster";
import { threadId } from "node:worker_threads";
import type { ActuatorOptions } from "../actuator-options.ts";
import type { Configuration, ConfigurationSources } from "../configuration/configuration.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import { part } from "./parts.ts";

/** How an operator has configured what is shown of an application that says nothing itself. */
export interface OperatorConfiguration {
  readonly options: ActuatorOptions;
  /** Where to listen besides the socket. */
  readonly listen: ListenOptions | undefined;
}

/** Stands for the socket, which is there anyway. */
const SOCKET = "socket";

/**
 * What the environment and the file that it names say, and where to listen besides the socket.
 *
 * @throws ActuatorError for a configuration that is wrong.
 */
export function operatorConfiguration(env: NodeJS.ProcessEnv = process.env): OperatorConfiguration {
  if (!Object.keys(env).some((variable) => variable.startsWith("ACTUATOR_"))) {
    return { options: {}, listen: undefined };
  }
  const { configuration } = part<{ configuration(sources: ConfigurationSources): Configuration }>(
    "configuration/index",
  );
  const file = env.ACTUATOR_CONFIG || undefined;
  const { options, listen } = configuration({ env, file, listen: { path: SOCKET } });
  return { options, listen: listen.path === SOCKET ? undefined : listen };
}

/** Why this process cannot have the address of the configuration, as its notice; undefined if it can. */
export function listenFault(): string | undefined {
  if (threadId > 0) return "a worker thread does not listen at the configured address; use its socket";
  return cluster.isWorker
    ? "the workers of a cluster do not listen at the configured address, which would lead to any of them; use their sockets"
    : undefined;
}
