import type { Application } from "../application/application.ts";
import type { Health } from "../application/health.ts";
import type { Answer, Operation } from "./operation.ts";
import { Representation } from "./representation.ts";

/** GET of the health: 503 while the process is draining, so that load balancers look elsewhere. */
export function readHealth(health: Health): Operation {
  const answers: Readonly<Record<Health["status"], Answer>> = {
    UP: { status: 200, representation: new Representation('{"status":"UP"}') },
    OUT_OF_SERVICE: { status: 503, representation: new Representation('{"status":"OUT_OF_SERVICE"}') },
  };
  return { run: () => answers[health.status] };
}

/** GET of the application's name, version and uptime in seconds. */
export function readInfo(application: Application): Operation {
  return {
    run() {
      const { name, version, startTime } = application;
      const uptime = Math.max(0, Date.now() - startTime) / 1000;
      return { status: 200, representation: new Representation(JSON.stringify({ name, version, uptime })) };
    },
  };
}
