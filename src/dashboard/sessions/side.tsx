import { signal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { Forbidden } from "../components/forbidden.tsx";
import { Icon } from "../components/icon.tsx";
import { count, counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { Scroll } from "../components/scroll.tsx";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { Ago, clock, exact, msOf } from "../components/time.tsx";
import { CallError } from "../link/link.ts";
import type { Fault } from "../link/messages.ts";
import { now } from "../state/clock.ts";
import { hrefOf } from "../state/route.ts";
import { application, link, may, serves } from "../state/server.ts";
import { askToEnd, askToEndAll } from "./ending.tsx";
import { all, ended, endings, ofUser, selection, whyNotEnd } from "./model.ts";
import { Id, PageButtons } from "./parts.tsx";
import { abilitiesOf, expiryOf, inShort, intervalWords, isNewestFirst, newestOf, shortId } from "./session-facts.ts";

/** Beside the table: a user's sessions, a session without a user, and what the store can do. */
export function Side({ panel, onClose }: { panel: RefObject<HTMLElement | null>; onClose: () => void }) {
  const { kind, name } = selection.value;
  const content =
    kind === "user" ? (
      <UserPanel username={name} onClose={onClose} />
    ) : kind === "session" ? (
      <SessionPanel id={name} onClose={onClose} />
    ) : (
      <StorePanel onClose={kind === "store" ? onClose : undefined} />
    );
  const label = kind === "user" ? "Sessions of the user" : kind === "session" ? "Session" : "Session store";
  return (
    <aside class={kind === "none" ? "pane side se-idle" : "pane side"} aria-label={label} ref={panel} tabIndex={-1}>
      {content}
    </aside>
  );
}

function Head({
  icon,
  title,
  chip,
  copies,
  onClose,
  children,
}: {
  icon: string;
  title: ComponentChildren;
  chip?: ComponentChildren;
  copies?: readonly [what: string, text: string];
  onClose: (() => void) | undefined;
  children?: ComponentChildren;
}) {
  return (
    <div class="side-head">
      <div class="side-title">
        <Icon name={icon} class="t3" />
        <h2>{title}</h2>
        {chip && <span class="chip">{chip}</span>}
        <span class="se-head-end">
          {copies !== undefined && (
            <Button
              look="plain icon"
              icon="ui-copy"
              label={`Copy ${copies[0]}`}
              onClick={() => void copyText(copies[1], `Copied ${copies[0]}`)}
            />
          )}
          {onClose !== undefined && (
            <Button look="plain icon" icon="ui-x" label="Close" keys="Escape" onClick={onClose} />
          )}
        </span>
      </div>
      {children}
    </div>
  );
}

function UserPanel({ username, onClose }: { username: string; onClose: () => void }) {
  const mayRead = may("sessions:read");
  useEffect(() => {
    if (mayRead) void ofUser.open({ username, active: undefined });
  }, [username, mayRead, link]);
  const { sessions, isLoaded, fault, total, hasOlder, isPartial, gone, fresh, page } = ofUser.state.value;
  const left = sessions.filter(({ id }) => !ended.value.has(id) && !gone.has(id));
  const newest = newestOf(left);
  const number = !hasOlder && page === 1 ? left.length : total;
  const mayEnd = whyNotEnd();
  const whyNoOther =
    mayEnd ??
    (page > 1 ? "the newest is on the first page" : undefined) ??
    (newest === undefined ? "no session is active" : !hasOlder && left.length < 2 ? "there is no other" : undefined);
  const words = number === undefined ? undefined : counted(number, "session");
  return (
    <>
      <Head
        icon="ui-user"
        title={<Outside text={username} class="se-clamp" />}
        chip={number !== 0 && words && (isPartial ? `at least ${words}` : words)}
        copies={["the user", username]}
        onClose={onClose}
      >
        <div class="se-acts">
          {left.length > 0 && (
            <>
              <Button
                look={mayEnd === undefined ? "quiet-danger" : ""}
                icon="ui-end"
                whyNot={mayEnd}
                onClick={() => void askToEndAll(username)}
              >
                {number === 1
                  ? "End the session"
                  : number === undefined || isPartial
                    ? "End all"
                    : `End all ${count(number)}`}
              </Button>
              <Button whyNot={whyNoOther} onClick={() => void askToEndAll(username, newest)}>
                End all but the newest
              </Button>
            </>
          )}
          {serves("LogsService") && may("logs:read") && (
            <a class="btn" href={hrefOf("logs", "", { search: username })}>
              <Icon name="ui-logs" />
              Log records
            </a>
          )}
          {left.length > 0 && mayEnd !== undefined && (
            <span class="why">
              <Icon name="ui-lock" class="i12x" />
              {mayEnd}
            </span>
          )}
          {fresh > 0 && (
            <Button icon="ui-refresh" onClick={() => void ofUser.newest()}>
              {count(fresh)} new
            </Button>
          )}
        </div>
      </Head>
      <Scroll label="The user’s sessions">
        {!mayRead ? (
          <Forbidden title="You may not see a user’s sessions" to="see them" permission="sessions:read" />
        ) : fault !== undefined && !isLoaded ? (
          <FaultState fault={fault} what="The sessions of this user" onRetry={() => void ofUser.newest()} />
        ) : !isLoaded ? (
          <Skeleton what="the user’s sessions" rows={4} />
        ) : sessions.length === 0 ? (
          <State icon="ui-user" title="No session of this user">
            <p>
              {isPartial
                ? "The store was not searched to its end, so the user may have sessions."
                : "The name is compared exactly as the application knows it, capital letters included."}
            </p>
          </State>
        ) : (
          <>
            {isPartial && (
              <p class="note">
                <Icon name="ui-info" />
                The store was not searched to its end: the user may have more sessions.
              </p>
            )}
            <ul class="se-list">
              {sessions.map((session) => (
                <Item
                  key={session.id}
                  session={session}
                  isNewest={page === 1 && session === newest}
                  isGone={gone.has(session.id)}
                />
              ))}
            </ul>
            {(hasOlder || page > 1) && (
              <div class="se-more">
                <PageButtons list={ofUser} />
              </div>
            )}
          </>
        )}
        <Endings username={username} />
        <Store />
      </Scroll>
    </>
  );
}

/** What was found of a session without a user that the table does not show. */
const found = signal<{ readonly id: string; readonly session?: Session; readonly fault?: Fault }>({ id: "" });

async function find(id: string): Promise<void> {
  found.value = { id };
  try {
    const { session } = await link.call("sessions", "getSession", { id });
    if (found.value.id === id) found.value = { id, session: session! };
  } catch (error) {
    if (found.value.id === id && error instanceof CallError) found.value = { id, fault: error.fault };
  }
}

function SessionPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const { sessions, gone } = all.state.value;
  const listed = sessions.find((session) => session.id === id);
  useEffect(() => {
    if (listed === undefined) void find(id);
  }, [id]);
  const { session: other, fault } = found.value.id === id ? found.value : { session: undefined, fault: undefined };
  const session = listed ?? other;
  const isOver = ended.value.has(id) || gone.has(id);
  return (
    <>
      <Head icon="ui-sessions" title="Session without a user" copies={["the id", id]} onClose={onClose} />
      <Scroll label="Session">
        {session !== undefined ? (
          <ul class="se-list">
            <Item session={session} isNewest={false} isGone={isOver} />
          </ul>
        ) : fault === undefined ? (
          <Skeleton what="the session" rows={3} />
        ) : fault.code === "NOT_FOUND" ? (
          <State icon="ui-sessions" title="This session has ended or expired">
            <p>{fault.message}</p>
          </State>
        ) : (
          <FaultState fault={fault} what="This session" onRetry={() => void find(id)} />
        )}
        {session !== undefined && session.username !== "" && (
          <p class="note">
            <a href={hrefOf("sessions", session.username)}>
              The sessions of <Outside text={session.username} />
            </a>
          </p>
        )}
        <Endings username="" />
        <Store />
      </Scroll>
    </>
  );
}

function StorePanel({ onClose }: { onClose: (() => void) | undefined }) {
  return (
    <>
      <Head icon="ui-info" title="Session store" chip={application.value?.sessionStore?.kind} onClose={onClose} />
      <Scroll label="Session store">
        <Endings />
        <Store />
      </Scroll>
    </>
  );
}

function Item({ session, isNewest, isGone }: { session: Session; isNewest: boolean; isGone: boolean }) {
  const { id, attributeNames, creationTime, lastAccessedTime } = session;
  const isEnded = ended.value.has(id);
  return (
    <li>
      <div class="row">
        <span class="mono strong">
          <Id id={id} />
        </span>
        {isNewest && <span class="chip accent">newest</span>}
        {isEnded || isGone ? (
          <span class="chip">{isEnded ? "ended" : "gone"}</span>
        ) : (
          <Button look="plain" icon="ui-end" whyNot={whyNotEnd()} onClick={() => void askToEnd(session)}>
            End<span class="vh"> {shortId(id)}</span>
          </Button>
        )}
      </div>
      <dl class="kv">
        <dt>Last access</dt>
        <dd>{lastAccessedTime === undefined ? <span class="t3">not known</span> : <Ago time={lastAccessedTime} />}</dd>
        <dt>Created</dt>
        <dd>
          {creationTime === undefined ? (
            <span class="t3">not known</span>
          ) : (
            <Ago time={creationTime} suffix={` ago, ${dated(msOf(creationTime))}`} />
          )}
        </dd>
        <dt>Expires</dt>
        <dd>{expiryWords(session)}</dd>
        <dt>Attributes</dt>
        <dd>{attributeNames.length === 0 ? <span class="t3">none</span> : <Names names={attributeNames} />}</dd>
      </dl>
    </li>
  );
}

const MAX_NAMES = 50;

function Names({ names }: { names: readonly string[] }) {
  return (
    <>
      {names.slice(0, MAX_NAMES).map((name, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <Outside text={inShort(name)} />
        </span>
      ))}
      {names.length > MAX_NAMES && ` and ${count(names.length - MAX_NAMES)} more`}
    </>
  );
}

/** Such as `60 min after the last access, in 42 min`. */
function expiryWords(session: Session): ComponentChildren {
  const expiry = expiryOf(session, now.value);
  if (expiry.kind === "expired") return "expired; the store still keeps it";
  if (expiry.kind === "never") return "never by itself";
  if (expiry.kind === "unknown") return <span class="t3">not known</span>;
  const interval = intervalWords(session.maxInactiveInterval!.seconds);
  return (
    <time dateTime={new Date(expiry.ms).toISOString()} title={exact(expiry.ms)}>
      {interval} after the last access
    </time>
  );
}

const DAY_MS = 86_400_000;

/** The time of a day, with its date if that is another day. */
function dated(ms: number): string {
  if (now.value - ms < DAY_MS && new Date(ms).getDate() === new Date(now.value).getDate()) return clock(ms);
  return new Date(ms).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

const MAX_ENDINGS = 5;

/** What this page has ended: of one user, of no user (empty), or all. */
function Endings({ username }: { username?: string }) {
  const mine = endings.value
    .filter((each) => username === undefined || each.username === username)
    .slice(0, MAX_ENDINGS);
  if (mine.length === 0) return null;
  return (
    <section class="sec" aria-labelledby="se-ended">
      <div class="sec-head">
        <Icon name="ui-history" class="t3" />
        <h3 id="se-ended">Ended earlier, from this page</h3>
      </div>
      {mine.map(({ at, count: number, username: whose }) => (
        <p class="s12 t2" key={at}>
          You ended {counted(number, "session")}
          {username === undefined &&
            (whose === "" ? (
              " without a user"
            ) : (
              <>
                {" "}
                of <Outside text={inShort(whose)} />
              </>
            ))}{" "}
          at{" "}
          <time dateTime={new Date(at).toISOString()} title={exact(at)}>
            {clock(at)}
          </time>
          .
        </p>
      ))}
    </section>
  );
}

/** What the store can do, and what it cannot. */
function Store() {
  const { sessionStore } = application.value ?? {};
  const { sessions } = all.state.value;
  const orders = sessions.length > 1 ? isNewestFirst(sessions) : undefined;
  return (
    <section class="sec" aria-labelledby="se-store">
      <div class="sec-head">
        <Icon name="ui-info" class="t3" />
        <h3 id="se-store">Limits of this store</h3>
      </div>
      <ul class="can">
        {sessionStore !== undefined &&
          abilitiesOf(sessionStore).map(({ can, text }) => (
            <li key={text}>
              <Icon name={can ? "ui-check" : "ui-minus"} class={can ? "is-ok" : "t3"} />
              <span>
                <span class="vh">{can ? "It can: " : "It cannot: "}</span>
                {text}
              </span>
            </li>
          ))}
        {orders !== undefined && (
          <li>
            <Icon name={orders ? "ui-check" : "ui-minus"} class={orders ? "is-ok" : "t3"} />
            {orders ? "Order by last access" : "Order by last access: its list has an order of its own"}
          </li>
        )}
        <li>
          <Icon name="ui-lock" class="t3" />
          {sessionStore?.rawIds
            ? "Attribute values are not shown. Ids are the application’s own: they can be used to take over a session."
            : "Ids are hashed and attribute values are not shown; they cannot be used to log in."}
        </li>
      </ul>
    </section>
  );
}
