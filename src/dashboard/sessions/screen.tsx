import "../styles/panes.css";
import "../styles/sessions.css";
import "./screen.css";
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { CommandText } from "../components/command.tsx";
import { Forbidden } from "../components/forbidden.tsx";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Scroll } from "../components/scroll.tsx";
import { Skeleton, State } from "../components/state.tsx";
import type { Fault } from "../link/messages.ts";
import { useKeys } from "../shell/keys.ts";
import { activity } from "../state/activity.ts";
import { go, hrefOf } from "../state/route.ts";
import { application, connection, link, may, serves } from "../state/server.ts";
import { all, limitOf, ofUser, STATES, type StateName, selection, stateName } from "./model.ts";
import { PageButtons } from "./parts.tsx";
import { moveRow, rowOf } from "./rows.ts";
import { isNewestFirst } from "./session-facts.ts";
import type { SessionList } from "./session-list.ts";
import { Side } from "./side.tsx";
import { Table } from "./table.tsx";

const REFRESH_MS = 10_000;
const RETRY_MS = 5_000;
/** Reading a list may cost the store much: a refresh has at least this many times what the last one took. */
const REST = 20;

/** How many sessions have expired and are still kept; undefined: not known. */
const expiredCount = signal<number | undefined>(undefined);

/** The sessions of the application: the list of all, and those of one user. */
export function Content() {
  const panel = useRef<HTMLElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const isServed = serves("SessionsService");
  const mayList = may("sessions:list");
  const { kind, name } = selection.value;
  const state = stateName.value;

  useEffect(() => {
    if (!isServed || !mayList) return;
    void all.open({ username: "", active: STATES[state] }).then(countExpired);
  }, [isServed, mayList, state, link]);
  useEffect(keepCurrent, []);
  useEffect(() => {
    if ((kind === "user" || kind === "session") && !matchMedia("(min-width: 1024px)").matches) panel.current?.focus();
  }, [kind, name]);

  const close = () => {
    if (kind === "none") return;
    const opened = location.hash;
    go("sessions", "", stateParams());
    requestAnimationFrame(() => rowOf(body.current, opened)?.focus());
  };
  const next = () => moveRow(body.current, 1);
  const previous = () => moveRow(body.current, -1);
  useKeys({
    j: next,
    k: previous,
    // In the side panel they scroll.
    ArrowDown: () => !panel.current?.contains(document.activeElement) && next(),
    ArrowUp: () => !panel.current?.contains(document.activeElement) && previous(),
    Escape: () => (kind === "none" ? false : close()),
  });

  if (!isServed) {
    return (
      <State icon="ui-sessions" title="This application does not serve its sessions">
        <p>
          The option <code>sessions</code> of createActuator names the store:
        </p>
        <CommandText text="createActuator({ sessions: expressSessions(store) })" />
      </State>
    );
  }
  if (!mayList && !may("sessions:read")) {
    return <Forbidden title="You may not see sessions" to="see sessions" permission="sessions:list" />;
  }
  return (
    <div class={kind === "none" ? "split se" : "split se has-details"}>
      <section class="pane" aria-label="Sessions">
        <Tools mayList={mayList} />
        <List mayList={mayList} body={body} />
      </section>
      <Side panel={panel} onClose={close} />
    </div>
  );
}

/** Beside the heading: how many sessions are active, and what keeps them. */
export function Heading() {
  const { total } = all.state.value;
  const active = activity.value.latest?.now?.sessions ?? (stateName.value === "active" ? total : undefined);
  const kind = application.value?.sessionStore?.kind;
  const words = [active !== undefined && `${count(active)} active`, kind].filter(Boolean).join(" · ");
  return words === "" ? null : <span class="t3 s12 nowrap">{words}</span>;
}

/** Moves to the field that finds a user. */
export function focusFilter(): void {
  document.querySelector<HTMLInputElement>("#se-find")?.select();
}

function Tools({ mayList }: { mayList: boolean }) {
  const find = (event: Event) => {
    event.preventDefault();
    const username = document.querySelector<HTMLInputElement>("#se-find")!.value;
    if (username !== "") go("sessions", username, stateParams());
  };
  const { fresh, isLoading, isLoaded, fault } = all.state.value;
  const limit = limitOf("find_by_username");
  return (
    <div class="tools">
      <form class="field" role="search" onSubmit={find}>
        <Icon name="ui-user" />
        <label class="vh" for="se-find">
          User
        </label>
        <input
          id="se-find"
          placeholder={
            limit === undefined ? "User, exactly as the application knows it" : "This store cannot search by user"
          }
          title={limit}
          disabled={limit !== undefined}
          autocomplete="off"
          spellcheck={false}
          maxLength={1024}
          enterkeyhint="search"
        />
      </form>
      {mayList && fault?.code !== "UNIMPLEMENTED" && fault?.code !== "PERMISSION_DENIED" && (
        <>
          <div class="seg" role="group" aria-label="Which">
            <StateButton name="active" title="Active" />
            <StateButton name="expired" title="Expired" />
            <StateButton name="both" title="Both" />
          </div>
          <Button
            icon="ui-refresh"
            label={fresh === 0 ? "Refresh" : undefined}
            look={fresh === 0 ? "icon" : ""}
            title={fresh === 0 ? "Refresh" : "Used or created since this list was read: show them"}
            whyNot={!isLoaded && isLoading ? "the list is being read" : undefined}
            onClick={() => void all.newest().then(countExpired)}
          >
            {fresh > 0 && `${count(fresh)} new`}
          </Button>
        </>
      )}
      <a
        class="btn icon se-about"
        href={hrefOf("sessions", "", { ...stateParams(), store: "1" })}
        aria-label="Limits of this store"
      >
        <Icon name="ui-info" />
      </a>
    </div>
  );
}

function StateButton({ name, title }: { name: StateName; title: string }) {
  const choose = () => {
    const { kind, name: selected } = selection.value;
    const state = name === "both" ? {} : { state: name };
    go("sessions", kind === "user" ? selected : "", kind === "session" ? { ...state, id: selected } : state);
  };
  return (
    <button type="button" aria-pressed={stateName.value === name} onClick={choose}>
      {title}
      {name === "expired" && expiredCount.value !== undefined && <span class="t3">{count(expiredCount.value)}</span>}
    </button>
  );
}

function List({ mayList, body }: { mayList: boolean; body: RefObject<HTMLTableSectionElement | null> }) {
  const { sessions, isLoaded, fault, hasOlder, page, isPartial } = all.state.value;
  if (!mayList || (fault?.code === "PERMISSION_DENIED" && !isLoaded)) {
    return (
      <div class="scroll">
        <Forbidden title="You may not list sessions" to="list them" permission="sessions:list">
          <p>You may see and find the sessions of a user whose name you know: type it above.</p>
        </Forbidden>
      </div>
    );
  }
  if (!isLoaded) {
    if (fault === undefined) return <Skeleton what="sessions" />;
    return (
      <div class="scroll">
        {fault.code === "UNIMPLEMENTED" ? <NoList fault={fault} /> : <Unavailable fault={fault} />}
      </div>
    );
  }
  return (
    <>
      {fault !== undefined && connection.value.status === "live" && (
        <div class="note" role="status">
          <Icon name="ui-warning" class="is-warn" />
          <span>{fault.message} The page retries every 5 s.</span>
          <button class="btn end-auto" type="button" onClick={() => void all.reload()}>
            Retry now
          </button>
        </div>
      )}
      {isPartial && (
        <p class="note">
          <Icon name="ui-info" />
          The store was not searched to its end: sessions may be missing.
        </p>
      )}
      <Scroll label="Sessions">{sessions.length === 0 ? <Nothing /> : <Table body={body} />}</Scroll>
      {(sessions.length > 0 || hasOlder || page > 1) && <Pager />}
    </>
  );
}

/** The store has no list, or keeps nothing on the server at all. */
function NoList({ fault }: { fault: Fault }) {
  const isUnreachable = limitOf("find_by_id") !== undefined;
  return (
    <State
      icon="ui-sessions"
      title={isUnreachable ? "Sessions are stored in the client’s cookie" : "This store cannot list its sessions"}
    >
      <p>{fault.message}</p>
      {limitOf("find_by_username") === undefined && (
        <p>The sessions of a user can be found by the name: type it above.</p>
      )}
    </State>
  );
}

function Unavailable({ fault }: { fault: Fault }) {
  return (
    <State
      icon="ui-error"
      title={fault.code === "UNAVAILABLE" ? "The session store is unavailable" : "Sessions cannot be read"}
    >
      <p>{fault.message} The page retries every 5 s.</p>
      <div class="btns">
        <button class="btn" type="button" onClick={() => void all.reload()}>
          Retry now
        </button>
      </div>
    </State>
  );
}

function Nothing() {
  const name = stateName.value;
  const { hasOlder, isPartial } = all.state.value;
  if (hasOlder) {
    return (
      <State icon="ui-sessions" title="No such session so far">
        <p>The store has more sessions. “Older” looks on.</p>
      </State>
    );
  }
  if (name === "both") {
    return (
      <State icon="ui-sessions" title={isPartial ? "No session was found" : "No sessions yet"}>
        <p>A session appears here with the first request that the application saves one for.</p>
      </State>
    );
  }
  return (
    <State icon="ui-sessions" title={name === "active" ? "No active session" : "No expired session"}>
      <p>
        {name === "active"
          ? "Expired ones may still be kept."
          : "The store removes sessions when they expire, or soon after."}
      </p>
      <div class="btns">
        <a class="btn" href={hrefOf("sessions")}>
          Show both
        </a>
      </div>
    </State>
  );
}

function Pager() {
  const { sessions, before, total, page, isPartial } = all.state.value;
  const last = before + sessions.length;
  const range = sessions.length === 0 ? "none here" : `${count(before + 1)}–${count(last)}`;
  const whole =
    total === undefined ? "" : ` of ${page > 1 || isPartial ? "about " : ""}${count(Math.max(total, last))}`;
  return (
    <div class="pager">
      <span>
        {range}
        {whole}
        {isNewestFirst(sessions) && <span class="se-order">, newest access first</span>}
      </span>
      <span class="end">page {count(page)}</span>
      <PageButtons list={all} onTurned={toTop} />
    </div>
  );
}

function toTop(): void {
  document.querySelector(".se .tbl")?.parentElement?.scrollTo(0, 0);
}

function stateParams(): Record<string, string> {
  return stateName.value === "both" ? {} : { state: stateName.value };
}

async function countExpired(): Promise<void> {
  const asked = link;
  const request = { active: false, pageSize: 1, includeTotal: true };
  const answer = await asked.call("sessions", "listSessions", request).catch(() => undefined);
  if (asked === link) expiredCount.value = answer?.totalSize === undefined ? undefined : Number(answer.totalSize);
}

/** Keeps what is shown current while the page can be seen; after a failure it tries again sooner. */
function keepCurrent(): () => void {
  let due = performance.now() + REFRESH_MS;
  let isBusy = false;
  const timer = setInterval(async () => {
    const begin = performance.now();
    const lists = selection.value.kind === "user" ? [all, ofUser] : [all];
    if (isBusy || document.visibilityState !== "visible" || connection.value.status !== "live") return;
    if (begin < due && !lists.some(isTransient)) return;
    isBusy = true;
    await Promise.all(lists.map(current));
    isBusy = false;
    const end = performance.now();
    due = end + Math.max(REFRESH_MS, (end - begin) * REST);
  }, RETRY_MS);
  return () => clearInterval(timer);
}

async function current(list: SessionList): Promise<void> {
  if (isTransient(list)) await list.reload();
  else await list.refresh();
}

/** Whether the last call failed in a way that may pass by itself. */
function isTransient({ state }: SessionList): boolean {
  const { fault } = state.value;
  return fault !== undefined && fault.code !== "PERMISSION_DENIED" && fault.code !== "UNIMPLEMENTED";
}
