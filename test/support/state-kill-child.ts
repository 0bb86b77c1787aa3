/**
 * Changes levels as fast as it can until it is killed, beginning where the file says that the last process was. Tells its
 * parent the number of each step that it knows to be in the file.
 */
import { setImmediate } from "node:timers/promises";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { GROUPS, MARKER, randomFrom, takeStep } from "./state-steps.ts";

const [path, seed] = [process.argv[2]!, Number(process.argv[3])];
const loggers = new Loggers({ state: path, groups: GROUPS }, (error) => {
  throw error;
});
let step = Number((loggers.get(MARKER) as Logger | undefined)?.override?.reason ?? 0);
const random = randomFrom(seed + step);

process.on("disconnect", () => process.exit());
for (;;) {
  const acknowledged = ++step;
  takeStep(loggers, seed, acknowledged);
  const flushed = loggers.flushed().then(() => process.send!(acknowledged));
  // Now and then changes go on during the write.
  if (random() < 0.5) await flushed;
  else await setImmediate();
}
