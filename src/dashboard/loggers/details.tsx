import { useEffect, useState } from "preact/hooks";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { type Logger, type LoggerGroup, type Override, Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { Durations } from "../components/durations.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelControl } from "../components/level-control.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { counted } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { clock, msOf } from "../components/time.tsx";
import { followersOf } from "../state/followers.ts";
import {
  chooseLevel,
  heldHere,
  inheritLevel,
  type Lasting,
  levelName,
  ONE_HOUR,
  pending,
  raise,
  restoreLevel,
  setLevel,
  TEN_MINUTES,
} from "../state/levels.ts";
import { isFleetReader, loggers } from "../state/loggers.ts";
import { hrefOf, route } from "../state/route.ts";
import { hasFleet, serves, whyNot } from "../state/server.ts";
import { HistoryRows, useHistory } from "./history.tsx";
import { address, levelOf, levelOfGroup, type ShownLevel, select, theTree } from "./model.ts";
import type { TailSection } from "./tail-section.tsx";
import { VolumeSection } from "./volume-section.tsx";

const LATEST = 3;
/** The history of one name is counted up to here. */
const COUNTED = 100;

/** Everything about one logger or group. */
export function Details({ name }: { name: string }) {
  const state = loggers.value;
  const group = state.groups.get(name);
  const node = theTree().get(name);
  const logger = node?.logger;
  const subject = group ?? logger;
  const shown = group !== undefined ? levelOfGroup(group) : node !== undefined ? levelOf(node) : unknownLevel();
  const base = shown.base ?? shown.level;
  const refusal = whyNot("loggers:write");
  return (
    <aside class="pane side lg-side" aria-label={seen(name.slice(0, 200))}>
      <div class="side-head">
        <div class="side-title">
          <button
            class="btn plain icon only-narrow"
            type="button"
            aria-label="Back to the loggers"
            onClick={() => address({ details: undefined }, { isStep: true })}
          >
            <Icon name="ui-right" class="flip" />
          </button>
          <h2 class="mono">
            <Outside text={name} />
          </h2>
          {group !== undefined ? (
            <span class="chip">group of {group.members.length}</span>
          ) : (
            logger?.kind && (
              <span class="chip">
                <Outside text={logger.kind} />
              </span>
            )
          )}
          <span class="end-auto" />
          <Button
            look="plain icon"
            icon="ui-copy"
            label="Copy the name"
            onClick={() => void copyText(name, "The name is copied.")}
          />
          <Button look="plain icon" icon="ui-x" label="Close" onClick={() => select("")} />
        </div>
        <div class="lg-big">
          <LevelControl
            name={name}
            {...shown}
            isWide
            pending={pending.value.get(name)}
            whyNot={refusal}
            onChoose={(level) => void chooseLevel(name, level)}
          />
        </div>
        <Why name={name} subject={subject} shown={shown} />
        <Actions key={name} name={name} subject={subject} shown={shown} whyNot={refusal} />
      </div>
      {logger !== undefined && <Warnings logger={logger} />}
      {group !== undefined && <Members group={group} />}
      <VolumeSection name={name} level={shown.upTo ?? shown.level} base={base} />
      <HistorySection name={name} stamp={stampOf(subject)} />
      <Tail name={name} />
    </aside>
  );
}

/** A name that is no logger yet follows ROOT. */
function unknownLevel(): ShownLevel {
  return { ...levelOf(theTree().root), origin: "inherited" };
}

function stampOf(subject: Logger | LoggerGroup | undefined): string {
  const { setTime } = subject?.override ?? {};
  return `${subject?.configuredLevel} ${setTime?.seconds}.${setTime?.nanos}`;
}

/** Who changed it, when, from what, why and until when, or where the level comes from. */
function Why({ name, subject, shown }: { name: string; subject: Logger | LoggerGroup | undefined; shown: ShownLevel }) {
  const followers = followersOf(name, loggers.value);
  const follow =
    subject !== undefined && "members" in subject
      ? ""
      : followers > 0
        ? ` ${counted(followers, "logger")} below ${followers === 1 ? "follows" : "follow"}.`
        : "";
  const { override } = subject ?? {};
  if (override === undefined) {
    return (
      <p class="lg-why lg-plain">
        <span>
          {ORIGINS[shown.origin]}
          {follow}
        </span>
      </p>
    );
  }
  return (
    <p class="lg-why">
      <OverrideChip name={name} override={override} long />
      <span>
        <Told name={name} override={override} subject={subject!} shown={shown} />
        {follow}
      </span>
    </p>
  );
}

function Told({
  override,
  subject,
  shown,
}: {
  name: string;
  override: Override;
  subject: Logger | LoggerGroup;
  shown: ShownLevel;
}) {
  const { actor, reason, setTime, expireTime, scope } = override;
  const isCleared = subject.configuredLevel === Level.UNSPECIFIED;
  const verb = isCleared
    ? "cleared it"
    : shown.base === undefined
      ? `set it to ${levelName(subject.configuredLevel)}`
      : shown.level > shown.base
        ? "raised it"
        : shown.level < shown.base
          ? "lowered it"
          : "set it";
  return (
    <>
      <strong class="med">
        <Outside text={actor || "An operator"} />
      </strong>{" "}
      {verb}
      {scope === Scope.FLEET && " for the fleet"}
      {shown.base !== undefined && shown.base !== shown.level && (
        <>
          {" "}
          from <LevelWord level={shown.base} />
        </>
      )}
      {setTime !== undefined && ` at ${clock(msOf(setTime))}`}
      {reason !== "" && (
        <>
          : “<Outside text={reason} />”
        </>
      )}
      .{expireTime !== undefined && ` Expires at ${clock(msOf(expireTime))}.`}
    </>
  );
}

const ORIGINS: Readonly<Record<ShownLevel["origin"], string>> = {
  inherited: "The level is inherited.",
  configured: "The application configured this level.",
  changed: "",
  via: "The level is inherited from a logger that an operator changed.",
  mixed: "The members have different levels.",
};

function Actions({
  name,
  subject,
  shown,
  whyNot: refusal,
}: {
  name: string;
  subject: Logger | LoggerGroup | undefined;
  shown: ShownLevel;
  whyNot: string | undefined;
}) {
  const override = subject?.override;
  const isConfigured = (subject?.configuredLevel ?? Level.UNSPECIFIED) !== Level.UNSPECIFIED;
  if (override === undefined) {
    return (
      <div class="lg-acts">
        {isConfigured && name !== "ROOT" && (
          <Button icon="ui-undo" keys="0" whyNot={refusal} onClick={() => void inheritLevel(name)}>
            Inherit
          </Button>
        )}
        <RaiseFor name={name} level={shown.level} whyNot={refusal} />
        <ForFleet name={name} whyNot={refusal} />
      </div>
    );
  }
  const level = subject!.configuredLevel;
  const keep = (lasting: Lasting) => {
    const isRaised = shown.base !== undefined && level > shown.base;
    if (isRaised && lasting === "permanent") void raise(name, level, lasting);
    else void setLevel(name, level, lasting, override.reason);
  };
  return (
    <div class="lg-acts">
      <Button icon="ui-undo" keys="b" whyNot={refusal} onClick={() => void restoreLevel(name)}>
        Restore
      </Button>
      {level !== Level.UNSPECIFIED && (
        <Durations
          label={`Keep ${levelName(level)} for`}
          value={lastingOf(name, override)}
          whyNot={refusal}
          onChange={keep}
        />
      )}
      <ForFleet name={name} whyNot={refusal} />
    </div>
  );
}

/** The same for all instances, if the application is in a fleet. */
function ForFleet({ name, whyNot: refusal }: { name: string; whyNot: string | undefined }) {
  if (!hasFleet()) return null;
  const ask = async () => (await import("../fleet/level-dialog.tsx")).askForFleetLevel({ name });
  return (
    <Button icon="ui-fleet" whyNot={refusal} onClick={() => void ask()}>
      On all instances …
    </Button>
  );
}

/** For a logger that is at its baseline: the next level, for a time to choose. */
function RaiseFor({ name, level, whyNot: refusal }: { name: string; level: Level; whyNot: string | undefined }) {
  const [lasting, setLasting] = useState<Lasting>(TEN_MINUTES);
  const next = level >= Level.TRACE ? undefined : level >= Level.DEBUG ? Level.TRACE : Level.DEBUG;
  if (next === undefined) return null;
  return (
    <>
      <Button whyNot={refusal} onClick={() => void raise(name, next, lasting)}>
        Raise to {levelName(next)}
      </Button>
      <Durations label={`Raise to ${levelName(next)} for`} value={lasting} whyNot={refusal} onChange={setLasting} />
    </>
  );
}

function lastingOf(name: string, { held, expireTime, setTime }: Override): Lasting | undefined {
  if (held) return heldHere.value.has(name) ? "tab" : undefined;
  if (expireTime === undefined || setTime === undefined) return "permanent";
  const ms = msOf(expireTime) - msOf(setTime);
  return [TEN_MINUTES, ONE_HOUR].find((each) => Math.abs(each - ms) < 2_000);
}

function Warnings({ logger: { warnings, settingOnly } }: { logger: Logger }) {
  if (warnings.length === 0 && !settingOnly) return null;
  return (
    <section class="sec" aria-label="Limits">
      {settingOnly && (
        <p class="lg-guard t2">
          <Icon name="ui-info" size={12} />
          No logger of this name exists yet. The level applies as soon as one appears.
        </p>
      )}
      {warnings.map((each) => (
        <p class="lg-guard is-warn" key={each}>
          <Icon name="ui-warning" size={12} />
          <Outside text={each} />
        </p>
      ))}
    </section>
  );
}

const MAX_MEMBERS = 50;

function Members({ group: { members } }: { group: LoggerGroup }) {
  return (
    <section class="sec" aria-labelledby="h-members">
      <div class="sec-head">
        <Icon name="ui-groups" class="t3" />
        <h3 id="h-members">Members</h3>
      </div>
      <ul class="lg-members">
        {members.slice(0, MAX_MEMBERS).map((each) => {
          const node = theTree().get(each);
          return (
            <li key={each}>
              <a
                class="mono cut"
                href={each.endsWith(".*") ? hrefOf("loggers", "", { filter: each }) : hrefOf("loggers", each)}
              >
                <Outside text={each} />
              </a>
              {node === undefined ? (
                <span class="t3">{each.endsWith(".*") ? "every logger below" : "no logger yet"}</span>
              ) : (
                <LevelWord level={levelOf(node).level} />
              )}
            </li>
          );
        })}
      </ul>
      {members.length > MAX_MEMBERS && <p class="t3 s12">and {counted(members.length - MAX_MEMBERS, "other")}</p>}
    </section>
  );
}

/** To look at records costs the application, so it begins only when asked. */
function Tail({ name }: { name: string }) {
  const isOpen = route.value.params.has("tail");
  const [Section, setSection] = useState<typeof TailSection | undefined>(undefined);
  useEffect(() => {
    if (isOpen) void import("./tail-section.tsx").then((module) => setSection(() => module.TailSection));
  }, [isOpen]);
  if (!serves("LogsService") || isFleetReader.value) return null;
  if (isOpen) return Section === undefined ? null : <Section key={name} name={name} onClose={toggleTail} />;
  return (
    <section class="sec lg-tail-closed" aria-labelledby="h-tail">
      <div class="sec-head">
        <Icon name="ui-logs" class="t3" />
        <h3 id="h-tail">Live</h3>
        <span class="end">
          <Button look="plain" icon="ui-play" keys="t" whyNot={whyNot("logs:read")} onClick={toggleTail}>
            Tail
          </Button>
        </span>
      </div>
    </section>
  );
}

/** Opens the tail of the selected logger, or closes it. */
export function toggleTail(): void {
  address({ tail: route.peek().params.has("tail") ? undefined : "1" });
}

function HistorySection({ name, stamp }: { name: string; stamp: string }) {
  const { changes, nextPageToken, fault, isLoaded } = useHistory(name, COUNTED, stamp);
  return (
    <section class="sec" aria-labelledby="h-history">
      <div class="sec-head">
        <Icon name="ui-history" class="t3" />
        <h3 id="h-history">History</h3>
        {changes.length > LATEST && (
          <button
            class="btn plain end"
            type="button"
            aria-keyshortcuts="h"
            onClick={() => address({ history: "1" }, { isStep: true })}
          >
            All {changes.length}
            {nextPageToken !== "" && "+"}
          </button>
        )}
      </div>
      {fault !== undefined && <p class="t3 s12">{fault.message}</p>}
      {isLoaded && fault === undefined && changes.length === 0 && <p class="t3 s12">The level was not changed.</p>}
      <HistoryRows changes={changes.slice(0, LATEST)} />
    </section>
  );
}
