import type { RefObject, TargetedMouseEvent } from "preact";
import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import { Button } from "../components/button.tsx";
import { Outside } from "../components/outside.tsx";
import { Ago } from "../components/time.tsx";
import { hrefOf } from "../state/route.ts";
import { application } from "../state/server.ts";
import { askToEnd } from "./ending.tsx";
import { all, ended, type Selection, selection, stateName, whyNotEnd } from "./model.ts";
import { Attributes, Id, Life } from "./parts.tsx";
import { shortId } from "./session-facts.ts";

/** The sessions of all users, one page at a time. */
export function Table({ body }: { body: RefObject<HTMLTableSectionElement | null> }) {
  const { sessions, gone, isLoading } = all.state.value;
  const isSelected = isOf(selection.value);
  const first = sessions.find(isSelected);
  return (
    <table class="tbl" aria-busy={isLoading}>
      <thead>
        <tr>
          <th scope="col">User</th>
          <th scope="col">Last access</th>
          <th scope="col">Expires</th>
          <th scope="col" class="se-b">
            Created
          </th>
          <th scope="col" class="se-s">
            Attributes
          </th>
          <th scope="col" class="se-h-i">
            Id
          </th>
          <th scope="col" class="act">
            <span class="vh">Action</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {sessions.map((session) => (
          <Row
            key={session.id}
            session={session}
            isSelected={isSelected(session)}
            isFirst={session === first}
            isGone={gone.has(session.id)}
            isEnded={ended.value.has(session.id)}
          />
        ))}
      </tbody>
    </table>
  );
}

/** The link to the details of a session: to its user, or to itself if it has none. */
function placeOf({ username, id }: Session): readonly [subject: string, params: Record<string, string>] {
  const state: Record<string, string> = stateName.value === "both" ? {} : { state: stateName.value };
  return username === "" ? ["", { ...state, id }] : [username, state];
}

interface RowProps {
  readonly session: Session;
  /** Whether it is in the side panel. */
  readonly isSelected: boolean;
  /** Whether it is the first of those. */
  readonly isFirst: boolean;
  readonly isGone: boolean;
  readonly isEnded: boolean;
}

function Row({ session, isSelected, isFirst, isGone, isEnded }: RowProps) {
  const { id, username, attributeNames, creationTime, lastAccessedTime } = session;
  const place = placeOf(session);
  const open = ({ currentTarget, target }: TargetedMouseEvent<HTMLElement>) => {
    if ((target as Element).closest("a, button") || getSelection()?.isCollapsed === false) return;
    currentTarget.querySelector("a")?.click();
  };
  return (
    <tr class={isSelected ? (isFirst ? "sel" : "same") : ""} onClick={open}>
      <td class="se-u">
        {username === "" && application.value?.sessionStore?.rawIds ? (
          // The address must not have an id with which a session can be taken over.
          <span class="t3">no user</span>
        ) : (
          <a
            class={username === "" ? "se-user se-none" : "se-user"}
            href={hrefOf("sessions", ...place)}
            aria-current={isSelected || undefined}
          >
            {username === "" ? (
              <>
                no user<span class="vh">, session {shortId(id)}</span>
              </>
            ) : (
              <Outside text={username} class="se-cut" />
            )}
          </a>
        )}
      </td>
      <td class="se-a">
        {lastAccessedTime === undefined ? <span class="t3">not known</span> : <Ago time={lastAccessedTime} />}
      </td>
      <td class="se-e">
        {isEnded || isGone ? <span class="chip">{isEnded ? "ended" : "gone"}</span> : <Life session={session} />}
      </td>
      <td class="se-b t2">
        {creationTime === undefined ? (
          <span class="t3" title="The store does not know when this session began">
            not known
          </span>
        ) : (
          <Ago time={creationTime} />
        )}
      </td>
      <td class="se-s">
        <Attributes names={attributeNames} />
      </td>
      <td class="se-i mono t3">
        <Id id={id} />
      </td>
      <td class="act">
        {!isEnded && !isGone && (
          <Button
            look="plain"
            icon="ui-end"
            title={`End session ${shortId(id)}`}
            whyNot={whyNotEnd()}
            onClick={() => void askToEnd(session)}
          >
            <span class="se-end">End</span>
            <span class="vh">
              {" "}
              session {shortId(id)} of {username === "" ? "no user" : <Outside text={username} />}
            </span>
          </Button>
        )}
      </td>
    </tr>
  );
}

function isOf({ kind, name }: Selection): (session: Session) => boolean {
  return ({ id, username }) => (kind === "user" ? username === name : id === name);
}
