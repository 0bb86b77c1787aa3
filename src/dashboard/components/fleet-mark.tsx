import { LevelChange_Kind as Kind, type LevelChange, type Override, Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import { Icon } from "./icon.tsx";

const WORDS = "Set for the fleet";

/** Tells a level that was set for the fleet from one of this instance alone. */
export function FleetMark({ override }: { override: Override | undefined }) {
  if (override?.scope !== Scope.FLEET) return null;
  return (
    <span class="of-fleet" title={WORDS}>
      <Icon name="ui-fleet" size={12} />
      <span class="vh">{WORDS}</span>
    </span>
  );
}

/** Whether a change was made for the fleet. What ends with all levels of the fleet has no author. */
export function isOfFleet({ kind, override }: Pick<LevelChange, "kind" | "override">): boolean {
  return override === undefined ? kind === Kind.CLEARED : override.scope === Scope.FLEET;
}
