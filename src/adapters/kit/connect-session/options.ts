import { type Checks, count, lapse, objectOf, timeLimit } from "../../../common/options.ts";
import { principalFault } from "../../../sessions/principal.ts";
import type { ConnectSessionsOptions } from "./connect-sessions.ts";
import type { ScanBounds } from "./session-scan.ts";

export const SCAN_BOUNDS = objectOf<ScanBounds>({ maxSessions: count, maxMs: lapse });

/** What the options of adapters without more of their own must be. */
export const CONNECT_SESSIONS_OPTIONS: Checks<ConnectSessionsOptions> = {
  principal: principalFault,
  timeoutMs: timeLimit,
  maxRemembered: count,
  scan: SCAN_BOUNDS,
};
