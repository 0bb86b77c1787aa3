export type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
export {
  type PreparedTable,
  type PrepareOptions,
  type PrepareStep,
  prepareConnectPgSimple,
} from "./prepare.ts";
export { type ConnectPgSimpleOptions, type ConnectPgSimpleSessions, connectPgSimpleSessions } from "./sessions.ts";
export type { PgSimpleTableOptions } from "./table-source.ts";
