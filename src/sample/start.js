import { enableCompileCache } from "node:module";

// JavaScript, so that not even this file needs its types stripped: from the second start on, Node.js takes every module from
// its cache, as quickly as if they had been built.
enableCompileCache();
await import("./main.ts");
