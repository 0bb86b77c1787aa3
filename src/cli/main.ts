import { endWithReader } from "./output.ts";
import { run } from "./program.ts";

endWithReader();
process.exitCode = await run(process.argv.slice(2));
