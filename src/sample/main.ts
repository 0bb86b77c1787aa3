import { enableCompileCache } from "node:module";

// From the second start on, Node.js takes the modules from its cache, as quickly as if they had been built.
enableCompileCache();
const { command } = await import("./command.ts");
await command(process.argv.slice(2), process.env);
