import type { ComponentChildren } from "preact";
import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import { confirmation } from "../components/confirmation.tsx";
import { count, counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { CallError } from "../link/link.ts";
import { link } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { all, ended, noteEnding, ofUser, selection } from "./model.ts";
import { attributesOf, inShort, shortId } from "./session-facts.ts";

/** Asks whether to end one session, and ends it. */
export async function askToEnd(session: Session): Promise<void> {
  const { id, username, attributeNames, expired } = session;
  const whose = username === "" ? " without a user" : <> of {user(username)}</>;
  await askAndEnd(
    {
      title: (
        <>
          End session <span class="mono">{shortId(id)}</span>
          {whose}?
        </>
      ),
      body: expired ? (
        "It has expired and lets no request in; its store removes it now instead of later. This cannot be undone."
      ) : (
        <>
          {username === "" ? "The visitor begins anew" : "The user is logged out there"} at the next request, and{" "}
          {what(attributeNames, "the session keeps")} is lost. This cannot be undone.
        </>
      ),
      action: "End session",
    },
    () => endOne(session),
  );
}

/** Asks whether to end all sessions of a user, or all but one, and ends them. */
export async function askToEndAll(username: string, keep?: Session): Promise<void> {
  const { sessions, total, hasOlder, isPartial, page, gone } = ofUser.state.value;
  const left = sessions.filter(({ id }) => id !== keep?.id && !ended.value.has(id) && !gone.has(id));
  // The number that the server counted includes sessions that are not on this page.
  const known = isPartial ? undefined : hasOlder || page > 1 ? total && total - (keep ? 1 : 0) : left.length;
  const number = known === undefined ? "sessions" : counted(known, "session");
  await askAndEnd(
    {
      title: (
        <>
          End {keep === undefined ? (known === 1 ? "the" : "all") : ""}{" "}
          {keep === undefined && known === 1 ? "session" : number} of {user(username)}
          {keep !== undefined && " and keep the newest"}?
        </>
      ),
      body: (
        <>
          {keep === undefined ? (
            "The user is logged out everywhere"
          ) : (
            <>
              The user is logged out everywhere but in <span class="mono">{shortId(keep.id)}</span>
            </>
          )}{" "}
          at the next request, and {what(attributesOf(left), "the sessions keep")} is lost. This cannot be undone.
        </>
      ),
      action: `End ${number}`,
    },
    () => endAll(username, keep),
  );
}

function user(username: string): ComponentChildren {
  return <Outside text={inShort(username)} />;
}

const MAX_NAMED = 5;

/** What is lost, by the names of the attributes. */
function what(names: readonly string[], keeps: string): ComponentChildren {
  if (names.length === 0) return `what ${keeps}`;
  return (
    <>
      what {keeps} (
      {names.slice(0, MAX_NAMED).map((name, at) => (
        <>
          {at > 0 && ", "}
          <Outside text={inShort(name)} />
        </>
      ))}
      {names.length > MAX_NAMED && ` and ${count(names.length - MAX_NAMED)} more`})
    </>
  );
}

async function endOne({ id, username }: Session): Promise<void> {
  try {
    const { existed } = await link.call("sessions", "deleteSession", { id });
    noteEnding({ username, count: existed ? 1 : 0, at: Date.now() }, [id]);
    const name = <span class="mono">{shortId(id)}</span>;
    const whose = username === "" ? "" : <> of {user(username)}</>;
    if (existed)
      done(
        <>
          Session {name}
          {whose} ended
        </>,
      );
    else
      done(
        <>
          Session {name}
          {whose} had ended already
        </>,
      );
  } catch (error) {
    return failed(error);
  }
  await reloadUser();
}

async function endAll(username: string, keep: Session | undefined): Promise<void> {
  try {
    const { deleted, partial } = await link.call("sessions", "deleteUserSessions", {
      username,
      exceptId: keep?.id ?? "",
    });
    const shown = [...all.state.value.sessions, ...ofUser.state.value.sessions];
    const ids = shown.filter((session) => session.username === username && session.id !== keep?.id).map(({ id }) => id);
    noteEnding({ username, count: deleted, at: Date.now() }, partial ? [] : ids);
    const result = deleted === 0 ? "No session" : counted(deleted, "session");
    if (!partial)
      done(
        <>
          {result} of {user(username)} ended
        </>,
      );
    else {
      const text = (
        <>
          {result} of {user(username)} ended. The store was not searched to its end: the user may have more.
        </>
      );
      toast({ icon: "ui-warning", tone: "warn", text });
      void all.reload();
    }
  } catch (error) {
    failed(error);
    void all.reload();
  }
  await reloadUser();
}

function done(text: ComponentChildren): void {
  toast({ icon: "ui-end", text });
}

function failed(error: unknown): void {
  toast({ icon: "ui-error", tone: "warn", text: error instanceof CallError ? error.fault.message : String(error) });
}

async function reloadUser(): Promise<void> {
  if (selection.value.kind === "user") await ofUser.reload();
}

/**
 * Asks, and ends sessions. The button that was pressed goes away with what it ended: then focus goes to its row or, if there is none, to
 * the side panel.
 */
async function askAndEnd(
  asked: Pick<Parameters<typeof confirmation>[0], "title" | "body" | "action">,
  end: () => Promise<void>,
) {
  const row = document.activeElement?.closest("tr")?.querySelector("a");
  if (!(await confirmation({ ...asked, icon: "ui-end", tone: "danger" }))) return;
  await end();
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const next = row?.isConnected ? row : document.querySelector<HTMLElement>(".se > .side");
    next?.focus();
  });
}
