import { registerWithSpringBootAdmin } from "../../../src/operations/spring-boot-admin/registration.ts";

// Registers, and has nothing else to do once its input ends. It would last for an hour if the registration kept it.
registerWithSpringBootAdmin(
  { url: process.argv[2]!, timeoutMs: 3_600_000, intervalMs: 3_600_000 },
  { name: "idle", startTime: Date.now() },
  { address: { address: "127.0.0.1", port: 9001, url: "http://127.0.0.1:9001" }, basePath: "/actuator" },
  (error) => console.error(error),
);
process.stdin.resume();
