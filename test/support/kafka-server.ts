import { spawnSync } from "node:child_process";
import { killed, type RunningServer, ServerFolder } from "./server-process.ts";

/** Whether `kcat` is installed, for `describe.runIf(requirement("kcat", kafkaFound))`. */
export const kafkaFound: boolean = spawnSync("kcat", ["-V"]).status === 0;

export interface KafkaClusterOptions {
  /** How many brokers the cluster has; one by default. */
  readonly brokers?: number;
}

/**
 * The mock cluster of librdkafka, in a process of its own: a broker's protocol over TCP, with topics, consumer groups,
 * transactions and a cluster id, all in memory. Topics make themselves, with four partitions. kcat needs one to hold on to:
 * there is always a topic "kcat".
 *
 * It speaks the protocol of Kafka 2.x without admin requests: `createTopics` finds no controller. kafkajs produces, consumes
 * and describes it; @platformatic/kafka produces, asks for metadata and lists topics and APIs, but its consumers fail, at the
 * listing of offsets (librdkafka 2.0.2, @platformatic/kafka 2.12.1).
 */
export interface KafkaCluster extends RunningServer {
  /** host:port of every broker. */
  readonly brokers: readonly string[];
  /** The port of the first broker. */
  readonly port: number;
}

/**
 * Starts a cluster, ready to answer. It also ends when this process ends in whatever way. There is no way to start one
 * again on the same port.
 */
export async function startKafka(options: KafkaClusterOptions = {}): Promise<KafkaCluster> {
  const folder = new ServerFolder("kafka");
  const count = options.brokers ?? 1;
  // kcat's producer waits for what it is to produce; the cluster comes with librdkafka, and takes the place of `-b`.
  const args = ["-P", "-b", "mock", "-t", "kcat", "-X", `test.mock.num.brokers=${count}`];
  const env = { KCAT_CONFIG: "/dev/null" };
  const ready = /Mock cluster enabled: .* replaced with (\S+)/;
  const { process: cluster, match } = await folder.run({ command: "kcat", args, env, ready });
  const brokers = match[1]!.split(",");
  const stop = () => folder.remove();
  return {
    host: "127.0.0.1",
    port: Number(brokers[0]!.split(":")[1]),
    brokers,
    pid: cluster.pid!,
    stop,
    kill: () => killed(cluster),
    freeze: () => void cluster.kill("SIGSTOP"),
    thaw: () => void cluster.kill("SIGCONT"),
    [Symbol.asyncDispose]: stop,
  };
}
