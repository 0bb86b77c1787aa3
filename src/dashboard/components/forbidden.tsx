import type { ComponentChildren } from "preact";
import { application } from "../state/server.ts";
import { CommandText } from "./command.tsx";
import { Outside } from "./outside.tsx";
import { State } from "./state.tsx";
import { tokenCommand } from "./token-command.ts";

/** What the caller may not do, which permission that needs, and the command that makes a token with it. */
export function Forbidden({
  title,
  to,
  permission,
  children,
}: {
  /** Such as `You may not list sessions`. */
  title: string;
  /** Such as `list sessions`. */
  to: string;
  permission: string;
  children?: ComponentChildren;
}) {
  const { caller } = application.value ?? {};
  const isToken = caller?.authentication === "token";
  return (
    <State icon="ui-lock" title={title}>
      <p>
        {caller !== undefined && (
          <>
            {caller.authentication === "none" ? (
              "A caller without credentials"
            ) : (
              <strong class="med">
                <Outside text={caller.name} />
              </strong>
            )}{" "}
            {caller.permissions.length === 0 ? "has no permission" : `has ${caller.permissions.join(", ")}`}.{" "}
          </>
        )}
        To {to}, {isToken ? "the token" : "the caller"} needs the permission <code>{permission}</code>.
      </p>
      {caller !== undefined && (
        <>
          <CommandText text={tokenCommand(caller, permission)} />
          <p class="s12 t3">
            tokens.json: the file that the option <code>access.tokens</code> names.
          </p>
        </>
      )}
      {children}
    </State>
  );
}
