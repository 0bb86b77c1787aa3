import { type Override, Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import { now } from "../state/clock.ts";
import { heldHere } from "../state/levels.ts";
import { Icon } from "./icon.tsx";
import { countdown, duration, exact, msOf } from "./time.tsx";

/** How long a changed level lasts: a ring with the time left, the tab that holds it, or a pin. */
export function OverrideChip({ name, override, long = false }: { name: string; override: Override; long?: boolean }) {
  const { setTime, expireTime, held, actor, reason, scope } = override;
  const set = setTime === undefined ? undefined : msOf(setTime);
  const forWhom = scope === Scope.FLEET ? " for the fleet" : "";
  const title = [`Changed by ${actor || "an operator"}${forWhom}`, reason && `“${reason}”`, set && `at ${exact(set)}`]
    .filter(Boolean)
    .join(", ");
  if (held) {
    const mine = heldHere.value.has(name);
    const words = mine
      ? long
        ? "while this tab is open"
        : "this tab"
      : long
        ? `while ${actor} holds it`
        : `held by ${actor}`;
    return (
      <span class="over" title={title}>
        <Icon name="ui-tab" />
        {words}
      </span>
    );
  }
  if (expireTime === undefined) {
    return (
      <span class="over" title={title}>
        <Icon name="ui-pin" />
        permanent{long && set !== undefined ? `, ${duration(now.value - set)} ago` : ""}
      </span>
    );
  }
  const [end, left] = [msOf(expireTime), msOf(expireTime) - now.value];
  const part = set === undefined ? 1 : Math.min(1, Math.max(0, left / (end - set)));
  return (
    <span class={left < 60_000 ? "over soon" : "over"} title={`${title}, until ${exact(end)}`}>
      <svg class="ring" viewBox="0 0 12 12" aria-hidden="true">
        <circle cx="6" cy="6" r="4.5" />
        <circle cx="6" cy="6" r="4.5" pathLength={100} stroke-dasharray={`${Math.round(part * 100)} 100`} />
      </svg>
      {countdown(left)}
      {long ? " left" : ""}
    </span>
  );
}
