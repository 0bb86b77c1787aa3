import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { platformaticKafkaSource } from "../../adapters/graph/kafka/platformatic/index.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";

/** The adapter sees all clients of the process: it is attached when the library announces the first, or else at once. */
export const platformaticKafka: Library = {
  watch: (_, findings) => onFirstInstance(() => findings.carefully(() => attach(findings))),
  meet(_, findings) {
    findings.carefully(() => attach(findings));
    return () => {};
  },
};

const attached = new WeakSet<Findings>();

function attach(findings: Findings): void {
  if (attached.has(findings)) return;
  attached.add(findings);
  const { platformaticKafkaSource: source } = part<{ platformaticKafkaSource: typeof platformaticKafkaSource }>(
    "adapters/graph/kafka/platformatic/index",
  );
  findings.messaging(source());
}

const INSTANCES = "plt:kafka:instances";

function onFirstInstance(see: () => void): Undo {
  const onInstance = () => {
    stop();
    see();
  };
  const stop = () => void unsubscribe(INSTANCES, onInstance);
  subscribe(INSTANCES, onInstance);
  return stop;
}
