import {
  type FleetChange,
  type InstanceStatus,
  InstanceStatus_Status as Status,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { hrefOf } from "../state/route.ts";
import { type Said, SYMBOLS, statusWords, unknownName } from "./summary.ts";

const LOOKS: Readonly<Record<Said["tone"], string>> = { ok: "ok", warn: "warn", bad: "bad", unknown: "line" };

/** A state by its symbol, its colour and its words. */
export function StateChip({ said: { tone, words } }: { said: Said }) {
  return (
    <span class={`chip ${LOOKS[tone]}`}>
      <Icon name={SYMBOLS[tone]} size={12} />
      {words}
    </span>
  );
}

/** Which instances: a selector, or all. */
export function Selected({ selector }: { selector: string }) {
  if (selector === "") return <span class="t3">all instances</span>;
  return <Outside class="mono s12 fl-any" text={selector} />;
}

const MAX_NAMED = 20;
const STATUS_LOOKS: Readonly<Partial<Record<Status, string>>> = {
  [Status.APPLYING]: "t2",
  [Status.APPLIED]: "is-ok",
  [Status.OVERRULED]: "is-warn",
};

/** Instances with how far a change has come there. */
export function Statuses({ statuses }: { statuses: readonly InstanceStatus[] }) {
  if (statuses.length === 0) return null;
  return (
    <ul class="fl-statuses s12">
      {statuses.slice(0, MAX_NAMED).map((each) => (
        <li key={each.instance} class={STATUS_LOOKS[each.status] ?? "is-bad"}>
          <Outside class="mono" text={each.instance} /> {seen(statusWords(each))}
        </li>
      ))}
      {statuses.length > MAX_NAMED && <li class="t3">and {count(statuses.length - MAX_NAMED)} more</li>}
    </ul>
  );
}

/** That no logger has the name of a change, with the one that was probably meant. */
export function UnknownName({ change }: { change: FleetChange | undefined }) {
  const unknown = unknownName(change);
  if (unknown === undefined) return null;
  const { words, nearest } = unknown;
  return (
    <p class="is-warn s12 fl-any">
      {seen(words)}
      {nearest !== "" && (
        <>
          {" Did you mean "}
          <a class="mono" href={hrefOf("loggers", nearest)}>
            <Outside text={nearest} />
          </a>
          ?
        </>
      )}
    </p>
  );
}
