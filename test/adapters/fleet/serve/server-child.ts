import { createActuator, memoryFleet } from "../../../../src/index.ts";

/** Keeps fleets on the port of its argument. */
const actuator = createActuator({ fleetEngine: memoryFleet(), heartbeatMs: 1_000, audit: false });
await actuator.listen({ port: Number(process.argv[2]) });
process.send!("ready");
