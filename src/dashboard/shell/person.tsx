import { Outside } from "../components/outside.tsx";
import { closeDialog, openDialog } from "../state/dialog.ts";
import { application, isSignedIn, signIn } from "../state/server.ts";
import { SignInForm } from "./sign-in.tsx";

const AUTHENTICATIONS: Readonly<Record<string, string>> = {
  none: "Not signed in. Every caller has these permissions.",
  token: "Signed in with a token.",
  jwt: "Signed in with a JSON Web Token.",
  certificate: "Signed in with a client certificate.",
};

/** Who the service takes this page for, and what it may do. */
export function Person() {
  const { caller, readOnly } = application.value ?? {};
  if (caller === undefined) return null;
  return (
    <>
      <div class="dlg-body">
        <h2 id="dialog-title">
          <Outside text={caller.name} />
        </h2>
        <p class="t2">{AUTHENTICATIONS[caller.authentication] ?? "Signed in by the application."}</p>
        <div>
          <p class="label">Permissions</p>
          <p class="wrap">
            {caller.permissions.map((each) => (
              <span class="chip mono">{each}</span>
            ))}
          </p>
        </div>
        {caller.loggers.length > 0 && (
          <div>
            <p class="label">Only these loggers, and those below them</p>
            <p class="wrap">
              {caller.loggers.map((each) => (
                <Outside class="chip mono" text={each} />
              ))}
            </p>
          </div>
        )}
        {readOnly && <p class="t2">The service is read only: every change is refused.</p>}
      </div>
      <div class="dlg-foot">
        {isSignedIn() && (
          <button
            class="btn"
            type="button"
            onClick={() => {
              closeDialog();
              signIn(undefined, false);
            }}
          >
            Sign out
          </button>
        )}
        <button class="btn" type="button" onClick={() => openDialog(<SignInForm />, { label: "Sign in" })}>
          {isSignedIn() ? "Use another token" : "Use a token"}
        </button>
        <button class="btn main-action" type="button" autofocus onClick={closeDialog}>
          Close
        </button>
      </div>
    </>
  );
}
