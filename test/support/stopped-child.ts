/** Sets a level for a fifth of a second when it is told "set", and answers every message with what is configured then. */
import { Loggers } from "../../src/loggers/loggers.ts";

const loggers = new Loggers();
process.on("message", (message) => {
  if (message === "set") loggers.setLevel("a", "DEBUG", { ttlMs: 200 });
  process.send!(loggers.get("a")?.configuredLevel ?? "none");
});
process.send!("ready");
