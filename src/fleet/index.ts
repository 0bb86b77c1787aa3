export { type FleetLoggers, fleetLoggers } from "./fleet.ts";
export type { FleetInstance, FleetOptions } from "./options.ts";
