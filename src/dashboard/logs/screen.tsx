import "../styles/panes.css";
import "./screen.css";
import { useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { CommandText } from "../components/command.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { counted, rate } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { State } from "../components/state.tsx";
import { clock } from "../components/time.tsx";
import { useKeys } from "../shell/keys.ts";
import { now } from "../state/clock.ts";
import { LEVELS, levelName } from "../state/levels.ts";
import { isFleetReader } from "../state/loggers.ts";
import { amend, route } from "../state/route.ts";
import { may, serves, whyNot } from "../state/server.ts";
import { LogsForbidden } from "./forbidden.tsx";
import { Histogram } from "./histogram.tsx";
import { NamesField } from "./names-field.tsx";
import { askToRaise, Names } from "./raise-dialog.tsx";
import { jsonOf } from "./record.ts";
import { searchOf, withCondition } from "./search.ts";
import { commonLevel, LogTail } from "./tail.ts";
import { TailView } from "./tail-view.tsx";

const SEARCH_DELAY_MS = 300;
const RECENT = 200;
const CHOICES = LEVELS.slice(1);

/** The tail of this screen. While it holds a raised level, it stays open on other screens, too. */
const tail = new LogTail();

/** What the address asks for. */
function asked() {
  const { params } = route.value;
  const levelOf = (name: string) => LEVELS.find((level) => levelName(level) === params.get(name)?.toUpperCase());
  const names = (params.get("names") ?? "").split(",").filter((name) => name !== "");
  return { names, level: levelOf("level"), search: params.get("search") ?? "", raise: levelOf("raise") };
}

function address(change: {
  names?: readonly string[];
  level?: Level | undefined;
  search?: string;
  raise?: Level | undefined;
}): void {
  // The operator may have left just now.
  if (!location.hash.startsWith("#/logs")) return;
  const { names, level, search, raise } = { ...asked(), ...change };
  amend("", {
    names: names.join(","),
    level: levelName(level ?? 0),
    search,
    raise: levelName(raise ?? 0),
  });
}

/** The state of the tail, beside the heading. */
export function Heading() {
  const status = tail.status.value;
  if (status.is === "lost") return <span class="t3 s12 nowrap">reconnecting</span>;
  if (status.is !== "open") return null;
  const perSecond = tail.volume.rate(now.value);
  return (
    <span class="t3 s12 nowrap">
      {tail.isPaused.value ? "paused" : "live"} · {rate(perSecond)} per second
    </span>
  );
}

export function focusFilter(): void {
  document.getElementById("lo-search")?.focus();
}

export function Content() {
  if (!serves("LogsService")) {
    return (
      <State icon="ui-logs" title="This application does not show log records">
        <p>They are turned off with the option logs, or no logging library is attached.</p>
      </State>
    );
  }
  if (isFleetReader.value) {
    return (
      <State icon="ui-logs" title="This process has no loggers of its own">
        <p>This command shows what loggers write on all instances of the fleet:</p>
        <CommandText text="connect-actuator fleet tail" />
      </State>
    );
  }
  if (!may("logs:read")) return <LogsForbidden />;
  return <Logs />;
}

function Logs() {
  useKeys({ Space: togglePause });
  const [fault, setFault] = useState<string | undefined>(undefined);
  const { names, level, search, raise } = asked();
  const { contains, fields } = searchOf(search);
  const namesKey = names.join(",");
  useEffect(() => {
    if (route.peek().page !== "logs") return;
    const carried = namesKey === tail.query.names.join(",") ? tail.raiseRequest : undefined;
    tail.open({ names, level, contains, fields, recent: RECENT }, carried);
  }, [namesKey, level, search]);
  useEffect(() => {
    if (raise !== undefined && tail.raiseRequest === undefined) ask(raise);
    return () => {
      if (tail.raiseRequest === undefined) tail.close();
    };
  }, []);
  const inForce = tail.raise.value;
  const raisedTo = inForce?.request.level;
  useEffect(() => {
    if (asked().raise !== raisedTo) address({ raise: raisedTo });
  }, [raisedTo]);
  const forbidden = useComputed(() => {
    const status = tail.status.value;
    return status.is === "refused" && status.fault.code === "PERMISSION_DENIED" && tail.chunks.value.length === 0;
  });
  if (forbidden.value) return <LogsForbidden />;
  return (
    <div class="lo pane">
      <RaiseBanner />
      <div class="tools">
        <NamesField names={names} onChange={(next) => address({ names: next })} onFault={setFault} />
        <SearchField search={search} />
        <LevelChoice level={level} />
        <RaiseButton />
        <Controls />
      </div>
      {fault !== undefined && (
        <p class="note" role="alert">
          <Icon name="ui-warning" class="is-warn" />
          <Outside text={fault} />
        </p>
      )}
      <Unheard />
      <Histogram tail={tail} />
      <TailView
        tail={tail}
        sought={contains}
        onCondition={(field, value) => address({ search: withCondition(asked().search, field, value) })}
      />
    </div>
  );
}

/** An address that names a raise only asks; it names it again when the level is raised. */
function ask(level?: Level): void {
  askToRaise(asked().names, level, (request) => tail.raiseTo(request));
}

/** What is raised for this tail, and until when. */
function RaiseBanner() {
  const inForce = tail.raise.value;
  if (inForce === undefined) return null;
  const { request, raised, until } = inForce;
  const returnsTo = commonLevel(raised);
  return (
    <div class="alert changed" role="status">
      <Icon name="ui-tab" />
      <span>
        {request.onlyHere ? (
          <>
            <LevelWord level={request.level} /> is shown here only, until this tail closes
          </>
        ) : (
          <>
            <strong class="med">
              <Names names={raised.map(({ name }) => name)} />
            </strong>{" "}
            {raised.length === 1 ? "is" : "are"} held at <LevelWord level={request.level} /> for you and{" "}
            {raised.length === 1 ? "returns" : "return"} to{" "}
            {returnsTo > 0 ? <LevelWord level={returnsTo} /> : "what applied before"} when this tail closes
          </>
        )}
        {until !== undefined && `, at ${clock(until)} at the latest`}.
      </span>
      <Button onClick={() => tail.raiseTo(undefined)}>Stop{!request.onlyHere && " and restore"}</Button>
    </div>
  );
}

function SearchField({ search }: { search: string }) {
  const [text, setText] = useState(search);
  // A condition that is added elsewhere, or a link.
  useEffect(() => setText(search), [search]);
  useEffect(() => {
    if (text.trim() === search.trim()) return;
    const timer = setTimeout(() => address({ search: text.trim() }), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class="field lo-search">
      <Icon name="ui-search" />
      <span class="vh">Search</span>
      <input
        id="lo-search"
        placeholder="Search, such as order=88231"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}

function LevelChoice({ level }: { level: Level | undefined }) {
  const chosen = level ?? LEVELS.at(-1)!;
  return (
    <label class="btn lo-level">
      <span class="t3">Minimum</span>
      <LevelWord level={chosen} />
      <Icon name="ui-down" />
      <select
        value={levelName(chosen)}
        onChange={({ currentTarget }) => {
          const next = LEVELS.find((each) => levelName(each) === currentTarget.value);
          address({ level: next === LEVELS.at(-1) ? undefined : next });
        }}
      >
        {CHOICES.map((each) => (
          <option key={each}>{levelName(each)}</option>
        ))}
      </select>
    </label>
  );
}

function RaiseButton() {
  const request = tail.raise.value?.request;
  return (
    <Button
      icon="ui-tab"
      pressed={request !== undefined}
      whyNot={whyNot("loggers:write")}
      title={request === undefined ? "Raise the level while this tail is open" : "Stop and restore"}
      onClick={() => (request === undefined ? ask() : tail.raiseTo(undefined))}
    >
      {request === undefined ? "Raise …" : `Raised to ${levelName(request.level)}`}
    </Button>
  );
}

function Controls() {
  const isPaused = tail.isPaused.value;
  const lines = () =>
    tail.chunks
      .peek()
      .flatMap((chunk) => chunk.lines.flatMap(({ record }) => (record === undefined ? [] : jsonOf(record))));
  const copy = () => {
    const all = lines();
    void copyText(all.join("\n"), `${counted(all.length, "record")} copied as JSON lines`);
  };
  return (
    <span class="lo-ctl">
      <Button
        icon={isPaused ? "ui-play" : "ui-pause"}
        title="Pause or resume (space)"
        keys="Space"
        onClick={togglePause}
      >
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button look="icon" icon="ui-copy" label="Copy what is shown" title="Copy what is shown" onClick={copy} />
      <Button
        look="icon"
        icon="ui-export"
        label="Download"
        title="Download as JSON lines"
        onClick={() => download(`${lines().join("\n")}\n`)}
      />
    </span>
  );
}

function togglePause(): void {
  if (tail.isPaused.peek()) tail.resume();
  else tail.pause();
}

function download(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `logs-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** The libraries whose records cannot be received. */
function Unheard() {
  const kinds = tail.started.value?.unheardKinds ?? [];
  if (kinds.length === 0) return null;
  return (
    <p class="note">
      <Icon name="ui-info" />
      <span>
        Not shown: records of <Outside text={kinds.join(", ")} />, whose records cannot be received.
      </span>
    </p>
  );
}
