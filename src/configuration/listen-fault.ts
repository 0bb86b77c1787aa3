import type { AccessOptions } from "../access/options.ts";
import { ActuatorError } from "../error.ts";
import { listenTarget } from "../server/address.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import type { Fault } from "./fault.ts";

/** What the server would say of the address, before it is asked: a host that others reach, with nobody who asks who they are. */
export function listenFaults(listen: ListenOptions, access: AccessOptions | undefined): Fault[] {
  const { tokens, jwt, certificates, authorize } = access ?? {};
  try {
    listenTarget(
      listen,
      [tokens, jwt, certificates, authorize].some((each) => each !== undefined),
    );
    return [];
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    return [{ at: `listen.${error.metadata.field}`, message: error.message }];
  }
}
