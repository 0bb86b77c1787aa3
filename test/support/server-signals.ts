/**
 * `node test/support/server-signals.ts [busy] [own-listener]`: an actuator that drains on signals. It writes its address,
 * then a line for everything that happens to it. `busy`: something of the application keeps the process alive.
 * `own-listener`: the application listens for SIGTERM itself and ends what keeps it alive a little later.
 */
import { createActuator } from "../../src/index.ts";

const what = new Set(process.argv.slice(2));
const actuator = createActuator({ loggers: {}, limits: { drainDeadlineMs: 600_000 } });
const { url } = await actuator.listen({ port: 0 });

if (what.has("busy")) {
  const work = setInterval(() => {}, 1_000);
  if (what.has("own-listener")) {
    process.once("SIGTERM", () => {
      setTimeout(() => {
        console.log("application ends");
        clearInterval(work);
      }, 500);
    });
  }
}
actuator.drainOnSignals();
process.on("exit", (code) => console.log(`exit ${code}`));
console.log(url);
