/**
 * Attacks an actuator with 100,000 hostile requests and connections, and says what they leave behind.
 * `node bench/robustness.ts [inputs] [seed]`.
 */
import { fuzz } from "../test/robustness/fuzz.ts";
import { faults, report } from "../test/robustness/fuzz-report.ts";
import { environment } from "./support/environment.ts";

const inputs = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
console.log(`npm run bench -- robustness ${inputs} ${seed}`);
const result = await fuzz({ inputs, seed });
for (const line of report(result, inputs)) console.log(line);
const found = faults(result);
for (const fault of found) console.error(fault);
console.log(found.length === 0 ? "nothing left behind" : `${found.length} faults`);
process.exit(found.length === 0 ? 0 : 1);
