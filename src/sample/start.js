import { enableCompileCache } from "node:module";

// JavaScript, so that the compile cache is on before the first TypeScript module: from the second start on, Node.js reads every
// module from the cache, as fast as if they were built.
enableCompileCache();
await import("./main.ts");
