import { Button } from "../components/button.tsx";
import { Forbidden } from "../components/forbidden.tsx";
import { SignInForm } from "../shell/sign-in.tsx";
import { openDialog } from "../state/dialog.ts";
import { hrefOf } from "../state/route.ts";

/** Reading records is granted by name only; says how. */
export function LogsForbidden() {
  return (
    <Forbidden title="You may not read log records" to="read log records" permission="logs:read">
      <p>
        Records may contain personal data, so <code>logs:read</code> is not part of <code>*</code>. Without tokens, set
        the option <code>{'access: { anonymous: ["*", "logs:read"] }'}</code>.
      </p>
      <div class="btns">
        <Button onClick={() => openDialog(<SignInForm />, { label: "Sign in" })}>Use another token</Button>
        <a class="btn plain" href={hrefOf("overview")}>
          Overview
        </a>
      </div>
    </Forbidden>
  );
}
