import { CanaryEnded_Outcome as Outcome } from "../../gen/actuator/v3/fleet_pb.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { countdown } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { type CanaryState, canary, dismissCanary, finishCanary, isRunning, OUTCOMES } from "./canary.ts";
import { whyNotChange } from "./changes.tsx";
import { Selected, StateChip, Statuses, UnknownName } from "./parts.tsx";
import { progressOf } from "./summary.ts";

const OUTCOME_LOOKS: Readonly<Partial<Record<Outcome, string>>> = {
  [Outcome.PROMOTED]: "is-ok",
  [Outcome.OVERRULED]: "is-warn",
  [Outcome.FAILED]: "is-bad",
};

/** The canary of this tab, with the decision about it. */
export function Canary() {
  if (canary.value === undefined) return null;
  const { request, progress, ended, fault } = canary.value;
  const { name, level, selector, instances } = request;
  const isOver = ended !== undefined || fault !== undefined;
  const isPromoted = progress?.isPromoted ?? false;
  return (
    <section class="panel fl-canary" aria-labelledby="fl-canary">
      <div class="panel-head">
        <h2 id="fl-canary">
          Canary: <Outside class="mono" text={name} /> <LevelWord level={level} />
        </h2>
        {isOver && (
          <Button look="plain icon end" icon="ui-x" label="Close the canary" onClick={dismissCanary}>
            {null}
          </Button>
        )}
      </div>
      <div class="fl-body">
        <p>
          On {!isPromoted && counted(instances, "instance")}
          {!isPromoted && selector !== "" && " of "}
          {(isPromoted || selector !== "") && <Selected selector={selector} />}
          {isOver ? (
            "."
          ) : (
            <>
              : <StateChip said={progressOf(progress?.change)} />
            </>
          )}
        </p>
        {!isOver && (
          <>
            <Statuses statuses={progress?.change?.instances ?? []} />
            <UnknownName change={progress?.change} />
          </>
        )}
        <p
          class={ended !== undefined ? OUTCOME_LOOKS[ended.outcome] : fault !== undefined ? "is-bad" : "t2"}
          role="status"
        >
          <Phase state={canary.value} />
        </p>
        {isRunning(canary.value) && (
          <div class="btns fl-acts">
            <Button
              look="main-action"
              whyNot={whyNotChange() ?? (progress === undefined ? "it has not begun yet" : undefined)}
              onClick={() => void finishCanary(true)}
            >
              Promote
            </Button>
            <Button
              icon="ui-undo"
              whyNot={progress === undefined ? "it has not begun yet" : undefined}
              onClick={() => void finishCanary(false)}
            >
              Take back
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

function Phase({ state: { request, startedAt, progress, ended, fault } }: { state: CanaryState }) {
  if (fault !== undefined) {
    return (
      <>
        <Icon name="ui-warning" /> {progress?.isPromoted ? "Promoted, but no longer followed" : "Taken back"}:{" "}
        <Outside text={fault.message} />
      </>
    );
  }
  if (ended !== undefined) return <>{OUTCOMES[ended.outcome]}.</>;
  if (progress === undefined) return <>It begins …</>;
  if (progress.isPromoted) return <>Promoted. The other instances follow.</>;
  const { promoteMs } = request;
  return (
    <>
      {promoteMs > 0 && (
        <>Promoted in {countdown(startedAt + promoteMs - now.value)} if all of them have applied it. </>
      )}
      Closing this tab, or losing its connection, takes the canary back.
    </>
  );
}
