import { command } from "./command.ts";

await command(process.argv.slice(2), process.env);
