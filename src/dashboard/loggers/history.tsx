import { useEffect, useState } from "preact/hooks";
import { LevelChange_Kind as Kind, type LevelChange } from "../../gen/actuator/v3/loggers_pb.ts";
import { isOfFleet } from "../components/fleet-mark.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { clock, duration, exact, msOf } from "../components/time.tsx";
import { CallError } from "../link/link.ts";
import type { Fault } from "../link/messages.ts";
import { hrefOf } from "../state/route.ts";
import { link } from "../state/server.ts";

interface History {
  readonly changes: readonly LevelChange[];
  readonly nextPageToken: string;
  readonly fault?: Fault | undefined;
}

const DAY_MS = 86_400_000;

/** The changes of a name, or all, newest first; read again when `stamp` moves. */
export function useHistory(
  name: string,
  pageSize: number,
  stamp: unknown,
): History & { more(): void; readonly isLoaded: boolean } {
  const [history, setHistory] = useState<History | undefined>(undefined);
  const read = async (pageToken: string, before: readonly LevelChange[], isWanted: () => boolean) => {
    try {
      const { changes, nextPageToken } = await link.call("loggers", "listLevelChanges", { name, pageSize, pageToken });
      if (isWanted()) setHistory({ changes: [...before, ...changes], nextPageToken });
    } catch (error) {
      if (isWanted() && error instanceof CallError)
        setHistory({ changes: before, nextPageToken: "", fault: error.fault });
    }
  };
  useEffect(() => {
    let isWanted = true;
    void read("", [], () => isWanted);
    return () => {
      isWanted = false;
    };
  }, [name, pageSize, stamp]);
  useEffect(() => setHistory(undefined), [name]);
  return {
    ...(history ?? { changes: [], nextPageToken: "" }),
    isLoaded: history !== undefined,
    more: () => history && void read(history.nextPageToken, history.changes, () => true),
  };
}

/** Rows of the history. */
export function HistoryRows({ changes, withNames = false }: { changes: readonly LevelChange[]; withNames?: boolean }) {
  return (
    <ol class={withNames ? "hi hi-all" : "hi"}>
      {changes.map((each, index) => (
        <HistoryRow key={`${each.revision} ${each.name} ${index}`} change={each} withNames={withNames} />
      ))}
    </ol>
  );
}

function HistoryRow({ change, withNames }: { change: LevelChange; withNames: boolean }) {
  const at = change.time === undefined ? 0 : msOf(change.time);
  return (
    <li>
      <time class="t3 nowrap" dateTime={new Date(at).toISOString()} title={exact(at)}>
        {when(at)}
      </time>
      <span class="hi-l">
        <LevelWord level={change.previousLevel} />
        <span class="t3">→</span>
        <LevelWord level={change.level} />
      </span>
      {withNames && (
        <a class="cut mono" href={hrefOf("loggers", change.name)}>
          <Outside text={change.name} />
        </a>
      )}
      <Outside class="cut t2" text={wordsOf(change)} />
    </li>
  );
}

function when(ms: number): string {
  if (Date.now() - ms < DAY_MS) return clock(ms);
  const date = new Date(ms);
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${clock(ms).slice(0, 5)}`;
}

const KINDS: Readonly<Partial<Record<Kind, string>>> = {
  [Kind.CLEARED]: "inherits",
  [Kind.RESTORED]: "restored",
  [Kind.EXPIRED]: "expired",
  [Kind.APPLICATION]: "set by the application",
  [Kind.VOLUME]: "restored: it wrote too many records",
};

/** Who, for how long, and why. */
function wordsOf(change: LevelChange): string {
  const { kind, override, group } = change;
  const { actor = "", expireTime, setTime, held, reason } = override ?? {};
  const ofFleet = isOfFleet(change);
  const lasting =
    kind !== Kind.SET
      ? ""
      : held
        ? "while held"
        : expireTime && setTime
          ? duration(Math.round((msOf(expireTime) - msOf(setTime)) / 1_000) * 1_000)
          : "permanent";
  // What was set before on the instance comes back.
  const did = ofFleet && kind === Kind.CLEARED ? "cleared" : KINDS[kind];
  const words = [actor, did, lasting, ofFleet && "for the fleet", group && `group ${group}`];
  return `${words.filter(Boolean).join(", ")}${reason ? `: ${reason}` : ""}`;
}

const PAGE = 100;

/** The whole history of a logger, a group, or all. */
export function HistoryPage({ name, stamp, onClose }: { name: string; stamp: unknown; onClose: () => void }) {
  const { changes, nextPageToken, fault, isLoaded, more } = useHistory(name, PAGE, stamp);
  return (
    <section class="pane lg-history" aria-label="History">
      <div class="tools">
        <button class="btn" type="button" onClick={onClose}>
          <Icon name="ui-right" class="flip" />
          {name === "" ? "All loggers" : "Back"}
        </button>
        <h2 class="mono cut">{name === "" ? "All changes of levels" : <Outside text={name} />}</h2>
        <span class="t3 s12 nowrap">
          {isLoaded && `${counted(changes.length, "change")}${nextPageToken ? ", and more" : ""}`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys. */}
      <section class="scroll" tabIndex={0} aria-label="Changes of levels, newest first">
        {fault !== undefined && changes.length === 0 ? (
          <FaultState fault={fault} what="the history" />
        ) : !isLoaded ? (
          <Skeleton what="the history" />
        ) : changes.length === 0 ? (
          <State icon="ui-history" title="No level was changed">
            <p>The history begins when the application starts.</p>
          </State>
        ) : (
          <>
            <HistoryRows changes={changes} withNames={name === ""} />
            {nextPageToken !== "" && (
              <p class="lg-more">
                <button class="btn" type="button" onClick={more}>
                  Show older ones
                </button>
              </p>
            )}
          </>
        )}
      </section>
    </section>
  );
}
