/** `node test/fleet/checker/main.ts [engine] [instances] [seconds] [seed]`: checks a fleet for longer than the tests do. */
import { checkFleet } from "./checker.ts";
import { ENGINES, FORGETFUL } from "./engines.ts";

const [, , name = "redis", instances = "12", seconds = "300", seed = String(Math.floor(Math.random() * 1e9))] =
  process.argv;
const engines = { ...ENGINES, ...FORGETFUL };
const engine = engines[name];
if (engine === undefined)
  throw new Error(`There is no engine ${name}: give one of ${Object.keys(engines).join(", ")}.`);
console.log(`${name}, ${instances} instances, ${seconds} s, seed ${seed}`);
const server = await engine.start();
const numbers = { instances: Number(instances), seconds: Number(seconds), seed: Number(seed) };
try {
  console.log(await checkFleet({ server, urlAt: engine.urlAt, ...numbers }));
} finally {
  await server.stop();
}
