import { onTestFinished } from "vitest";
import { createActuator } from "../../src/index.ts";
import type { LoggerAdapter } from "../../src/loggers/adapter.ts";
import { http1Request } from "./server-harness.ts";

/** An actuator over logging libraries, served until the test ends: its REST interface as far as it is about one logger. */
export async function actuatorOf(...adapters: readonly LoggerAdapter[]) {
  const actuator = createActuator({ loggers: { adapters, logLevelChanges: false } });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const headers = { "content-type": "application/json" };
  return {
    get: async (name: string) => JSON.parse((await http1Request(`${url}/actuator/loggers/${name}`)).body),
    post: async (name: string, configuredLevel: string | null) => {
      const body = JSON.stringify({ configuredLevel });
      return (await http1Request(`${url}/actuator/loggers/${name}`, { method: "POST", headers, body })).status;
    },
  };
}
