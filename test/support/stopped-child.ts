/** Sets a level for a fifth of a second, and answers every message with what is configured then. */
import { Loggers } from "../../src/loggers/loggers.ts";

const loggers = new Loggers();
loggers.setLevel("a", "DEBUG", { ttl: 200 });
process.on("message", () => process.send!(loggers.get("a")!.configuredLevel ?? "none"));
process.send!("ready");
