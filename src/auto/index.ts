/** `node --import connect-actuator/auto app.js`: see docs/auto.md. Exports nothing. */
import { preload } from "./preload.ts";

preload();
