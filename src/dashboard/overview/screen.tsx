import "../styles/overview.css";
import "./screen.css";
import { useKeys } from "../shell/keys.ts";
import { activity } from "../state/activity.ts";
import { askAndRestoreAll } from "../state/levels.ts";
import { changed, loggers } from "../state/loggers.ts";
import { may, serves } from "../state/server.ts";
import { ChangedLevels } from "./changed-levels.tsx";
import { FailingNodes } from "./failing.tsx";
import { Health } from "./health.tsx";
import { RecentChanges } from "./recent-changes.tsx";
import { Status } from "./status.tsx";
import { Tiles } from "./tiles.tsx";

/** How the application is, what operators have changed, and what fails. */
export function Content() {
  useKeys({ B: () => (changed.value.length > 0 && may("loggers:write") ? void askAndRestoreAll() : false) });
  const hasLoggers = serves("LoggersService");
  const hasHealth = (activity.value.latest?.health?.components.length ?? 0) > 0;
  const hasFailing = activity.value.latest?.now?.failingNodes !== undefined;
  return (
    <div class="ov">
      <Status />
      <Tiles />
      {hasLoggers && <ChangedLevels />}
      <div class="ov-grid">
        {(hasHealth || hasFailing) && <div class="ov-col">{hasHealth ? <Health /> : <FailingNodes />}</div>}
        <div class="ov-col">
          {hasHealth && <FailingNodes />}
          {hasLoggers && loggers.value.fault === undefined && <RecentChanges />}
        </div>
      </div>
    </div>
  );
}
