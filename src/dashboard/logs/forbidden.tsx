import { Button } from "../components/button.tsx";
import { Outside } from "../components/outside.tsx";
import { State } from "../components/state.tsx";
import { SignInForm } from "../shell/sign-in.tsx";
import { openDialog } from "../state/dialog.ts";
import { hrefOf } from "../state/route.ts";
import { application } from "../state/server.ts";

/** Reading records is granted by name only; says how. */
export function Forbidden() {
  const { caller } = application.value ?? {};
  const permissions = caller?.permissions ?? [];
  const isToken = caller?.authentication === "token";
  return (
    <State icon="ui-lock" title="You may not read log records">
      <p>
        They may contain personal data, so the permission <code>logs:read</code> is granted by name: it is not part of{" "}
        <code>*</code>.{" "}
        {isToken ? (
          <>
            <strong class="med">
              <Outside text={caller.name} />
            </strong>{" "}
            needs a token with it:
          </>
        ) : (
          "For callers without a token, set the option:"
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <pre class="cmd" tabIndex={0}>
        <Outside
          text={isToken ? tokenCommand(caller.name, permissions) : 'access: { anonymous: ["*", "logs:read"] }'}
        />
      </pre>
      <div class="btns">
        <Button onClick={() => openDialog(<SignInForm />, { label: "Sign in" })}>Use another token</Button>
        <a class="btn plain" href={hrefOf("overview")}>
          Overview
        </a>
      </div>
    </State>
  );
}

function tokenCommand(name: string, permissions: readonly string[]): string {
  const quoted = /^[\w.@-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return `npx connect-actuator token create --name ${quoted} --permission ${[...permissions, "logs:read"].join(" ")} --file tokens.json`;
}
