import { type FleetChange, InstanceStatus_Status as Status } from "../../gen/actuator/v3/fleet_pb.ts";
import { Outside } from "../components/outside.tsx";

/** How many instances are named. */
const MAX_NAMED = 3;

const WORDS: Readonly<Record<Status, string>> = {
  [Status.UNSPECIFIED]: "unknown",
  [Status.APPLYING]: "applying",
  [Status.APPLIED]: "applied",
  [Status.FAILED]: "failed",
  [Status.OVERRULED]: "overruled",
  [Status.GONE]: "gone",
};
const TONES: Readonly<Partial<Record<Status, string>>> = { [Status.FAILED]: "bad", [Status.OVERRULED]: "warn" };

/** How far a change has come: `2 of 3 applied`, and each instance that has not, with the reason. */
export function Progress({ change }: { change: FleetChange | undefined }) {
  if (change === undefined) return <span class="t3">not followed</span>;
  const { instances } = change;
  const applied = instances.filter(({ status }) => status === Status.APPLIED).length;
  const others = instances.filter(({ status }) => status !== Status.APPLIED);
  if (instances.length === 0) return <span class="t3">no instance matches now</span>;
  return (
    <span class="fl-progress">
      <span class={applied === instances.length ? "chip ok" : "chip"}>
        {applied} of {instances.length} applied
      </span>
      {others.slice(0, MAX_NAMED).map(({ instance, status, reason, overruledBy }) => (
        <span
          class={`chip ${TONES[status] ?? ""}`}
          key={instance}
          title={status === Status.OVERRULED ? `changed there by ${overruledBy || "the application"}` : reason}
        >
          <Outside text={instance} class="fl-cut" /> {WORDS[status]}
        </span>
      ))}
      {others.length > MAX_NAMED && <span class="t3">and {others.length - MAX_NAMED} more</span>}
    </span>
  );
}
