/**
 * `node --allow-natives-syntax measured-shape.ts <pino>`: says what shape the engine gives to loggers before, while and after they
 * are measured. Each has a twin: a child of the same parent without a name.
 */
import { createRequire } from "node:module";
import type { pino as Pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../../src/loggers/loggers.ts";

// What only this option lets pass is no syntax that a compiler knows.
const hasFastProperties = new Function("value", "return %HasFastProperties(value)") as (value: object) => boolean;
const haveSameMap = new Function("one", "other", "return %HaveSameMap(one, other)") as (...of: object[]) => boolean;

const pino = createRequire(import.meta.url)(process.argv[2]!) as typeof Pino;
const root = pino({ base: null }, { write: () => {} });
const loggers = new Loggers();
loggers.attach(pinoLoggers(root));
const [follower, followerTwin] = [root.child({ name: "follower" }), root.child({ reqId: 1 })];
// The first of a level serves as the model of its methods, as a prototype, and the engine gives each prototype a shape of its own.
root.child({ name: "model" }, { level: "error" });
const [own, ownTwin] = [root.child({ name: "own" }, { level: "error" }), root.child({ reqId: 1 }, { level: "error" })];

function call(): void {
  for (let count = 0; count < 20_000; count++) for (const logger of [root, follower, own, ownTwin]) logger.debug("x");
}
function shape() {
  call();
  return {
    fast: [root, follower, own].map(hasFastProperties),
    asTheTwin: [haveSameMap(follower, followerTwin), haveSameMap(own, ownTwin)],
  };
}

const before = shape();
const { debug } = own;
const measurement = loggers.measure();
const meanwhile = shape();
const wrapped = own.debug !== debug;
measurement.end();
console.log(JSON.stringify({ before, meanwhile, wrapped, after: shape() }));
