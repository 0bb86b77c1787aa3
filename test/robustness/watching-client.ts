/**
 * `node test/robustness/watching-client.ts <url> <count> <wire…>`: so many watches over each wire, which it opens and reads.
 * Tells its parent when all have had their first event.
 */
import { createClient } from "@connectrpc/connect";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { transportOver, WIRES } from "../support/rpc-harness.ts";

const [url, count, ...names] = process.argv.slice(2);

async function watch(name: string): Promise<void> {
  const wire = WIRES.find(({ protocol, httpVersion }) => `${protocol} ${httpVersion}` === name)!;
  const events = createClient(LoggersService, transportOver(wire, url!)).watchLoggers({})[Symbol.asyncIterator]();
  await events.next();
  void (async () => {
    while (!(await events.next()).done);
  })();
}

for (const name of names) await Promise.all(Array.from({ length: Number(count) }, () => watch(name)));
process.send!("watching");
