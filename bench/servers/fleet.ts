/**
 * Instances of a fleet, in this process: the engine's name, its address and how many are the arguments. Each one has real pino loggers if it is alone.
 * Answers `{ level }` with the time at which the last of them had it, `{ bare }` with that of the message over a bare subscription, and
 * `{}` with the bytes of one more instance.
 */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { FLEET_SERVERS } from "../support/fleet-servers.ts";

const [, , engine, url, asked] = process.argv;
const kind = FLEET_SERVERS[engine!]!;
const count = Number(asked);
const members = Array.from({ length: count }, (_, number) => instance(`${process.pid}-${number}`));
const subscriber = await kind.connect(url!);
let heard: (text: string, at: bigint) => void = () => {};
await subscriber.subscribe((text) => heard(text, process.hrtime.bigint()));
while (members.some(({ fleet }) => fleet.engine.fault !== undefined)) await soon();
process.send!("ready");

process.on("disconnect", () => process.exit());
process.on("message", async ({ level, bare }: { level?: string; bare?: string }) => {
  if (level === undefined && bare === undefined) {
    process.send!(await memory());
    return;
  }
  const times =
    level === undefined ? [await received(bare!)] : await Promise.all(members.map((each) => each.has(level)));
  // A bigint cannot be sent to all parents; a double has nanoseconds for 100 days.
  process.send!(Number(times.reduce((one, other) => (one > other ? one : other))));
});
// The parent waits for it: from now on nothing is missed.
function received(bare: string): Promise<bigint> {
  return new Promise((resolve) => {
    heard = (text, at) => {
      if (text === bare) resolve(at);
    };
    process.send!("listening");
  });
}

function instance(id: string, name = "bench") {
  const loggers = new Loggers({ instance: id });
  const root = pino({ level: "info" }, { write: () => {} });
  if (count === 1) loggers.attach(pinoLoggers(root));
  const orders = root.child({ name: "orders" });
  const fleet = new Fleet({ engine: kind.source(url!), name }, { startTime: 0, loggers, ttl: {} });
  const level = () => (count === 1 ? orders.level.toUpperCase() : loggers.get("orders")?.configuredLevel);
  return {
    fleet,
    has: (wanted: string) =>
      new Promise<bigint>((resolve) => {
        const stop = loggers.onRevision(() => {
          if (level() !== wanted) return;
          stop();
          resolve(process.hrtime.bigint());
        });
        if (members.at(-1)?.fleet === fleet) process.send!("listening");
      }),
  };
}

/** What one more instance takes, once the library is loaded. */
async function memory(): Promise<number> {
  const more = 50;
  const collected = () => {
    globalThis.gc!();
    return process.memoryUsage().heapUsed;
  };
  const before = collected();
  const added = Array.from({ length: more }, (_, number) => instance(`more-${number}`, `more-${number}`));
  while (added.some(({ fleet }) => fleet.engine.fault !== undefined)) await soon();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const bytes = (collected() - before) / more;
  await Promise.all(added.map(({ fleet }) => fleet.close()));
  return bytes;
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
