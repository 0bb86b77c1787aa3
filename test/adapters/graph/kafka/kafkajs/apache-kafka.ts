import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { freePorts, ServerFolder } from "../../../../support/server-process.ts";

/**
 * The folder with the jars of Apache Kafka, for those who want the tests to run against it as well as against the mock cluster:
 * `CONNECT_ACTUATOR_KAFKA_JARS=<folder>`. To fill one: a pom.xml with the dependency org.apache.kafka:kafka_2.13:3.9.1, and
 * `mvn dependency:copy-dependencies -DoutputDirectory=<folder>`. It needs a Java of 17 or later.
 */
export const kafkaJars: string | undefined = process.env.CONNECT_ACTUATOR_KAFKA_JARS || undefined;

/** Starts Apache Kafka as one node, broker and controller, ready to answer. */
export async function startApacheKafka(jars: string) {
  const folder = new ServerFolder("apache-kafka");
  const [port, controller] = (await freePorts(2)) as [number, number];
  const settings = join(folder.path, "server.properties");
  const classes = join(jars, "*");
  writeFileSync(
    settings,
    [
      "process.roles=broker,controller",
      "node.id=1",
      `controller.quorum.voters=1@127.0.0.1:${controller}`,
      `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
      "controller.listener.names=CONTROLLER",
      "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
      `log.dirs=${join(folder.path, "data")}`,
      ...["offsets.topic", "transaction.state.log"].flatMap((log) => [
        `${log}.replication.factor=1`,
        `${log}.num.partitions=1`,
      ]),
      "transaction.state.log.min.isr=1",
      "group.initial.rebalance.delay.ms=0",
    ].join("\n"),
  );
  const format = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", settings];
  execFileSync("java", ["-cp", classes, ...format], { stdio: "ignore" });
  const args = ["-Xmx400m", "-cp", classes, "kafka.Kafka", settings];
  // Without a logger it says no more than this, so it is asked whether it answers.
  await folder.run({ command: "java", args, ready: /^SLF4J: Defaulting/ });
  const brokers = [`127.0.0.1:${port}`];
  const retry = { initialRetryTime: 100, maxRetryTime: 500, retries: 100 };
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry }).admin();
  await admin.connect();
  await admin.describeCluster();
  await admin.disconnect();
  return { brokers, stop: () => folder.remove() };
}
