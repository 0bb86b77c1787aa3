export { type Standalone, standaloneFaults, startStandalone } from "./standalone.ts";
