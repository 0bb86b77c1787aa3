import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import { count } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { duration, exact } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { expiryOf, shortId } from "./session-facts.ts";
import type { SessionList } from "./session-list.ts";

/** How much of its life a session has left. */
export function Life({ session }: { session: Session }) {
  const expiry = expiryOf(session, now.value);
  if (expiry.kind === "expired") return <span class="chip">expired</span>;
  if (expiry.kind === "never") return <span class="t3">never</span>;
  if (expiry.kind === "unknown") return <span class="t3">not known</span>;
  const { ms, part } = expiry;
  return (
    <span class={part < 0.1 ? "life short" : "life"} title={exact(ms)}>
      <svg viewBox="0 0 40 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width="40" height="4" rx="2" />
        <rect width={(part * 40).toFixed(1)} height="4" rx="2" />
      </svg>
      <span class="t3 s12">{ms > now.value ? `in ${duration(ms - now.value)}` : "now"}</span>
    </span>
  );
}

const MAX_CHIPS = 3;
/** Longer names may be cut where there is too little room. */
const LONG = 6;
const MAX_TITLE = 1_000;

/** The names of what a session keeps. */
export function Attributes({ names }: { names: readonly string[] }) {
  const more = names.slice(MAX_CHIPS);
  return (
    <span class="se-attr">
      {names.slice(0, MAX_CHIPS).map((name) => (
        <span class={name.length > LONG ? "chip se-long" : "chip"} key={name}>
          <Outside text={name} class="se-cut" />
        </span>
      ))}
      {more.length > 0 && (
        <span class="chip" title={seen(more.join(", ")).slice(0, MAX_TITLE)}>
          + {count(more.length)}
        </span>
      )}
    </span>
  );
}

/** An id, shortened; whole on hover. */
export function Id({ id }: { id: string }) {
  return <span title={id}>{shortId(id)}</span>;
}

/** Turns the pages of a list. */
export function PageButtons({ list, onTurned }: { list: SessionList; onTurned?: () => void }) {
  const { page, hasOlder, isLoading } = list.state.value;
  const turn = (isPossible: boolean, to: () => Promise<void>) => () => {
    if (isPossible && !isLoading) void to().then(onTurned);
  };
  return (
    <>
      <button class="btn" type="button" aria-disabled={page === 1} onClick={turn(page > 1, () => list.newer())}>
        Newer
      </button>
      <button class="btn" type="button" aria-disabled={!hasOlder} onClick={turn(hasOlder, () => list.older())}>
        Older
      </button>
    </>
  );
}
