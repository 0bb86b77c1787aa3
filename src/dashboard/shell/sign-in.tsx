import { useId, useState } from "preact/hooks";
import { CommandText } from "../components/command.tsx";
import { Icon } from "../components/icon.tsx";
import { State } from "../components/state.tsx";
import { closeDialog, openDialog } from "../state/dialog.ts";
import { application, connection, link, signIn } from "../state/server.ts";

/** What the service has to be told so that it accepts this page, by the reason of its refusal. */
const REMEDIES: Readonly<Record<string, readonly [title: string, remedy: string]>> = {
  ACCESS_NOT_CONFIGURED: [
    "No access control is configured",
    'createActuator({ access: { tokens: "tokens.json" }, … })',
  ],
  NOT_LOCAL: ["No access control is configured", 'createActuator({ access: { tokens: "tokens.json" }, … })'],
  HOST_NOT_ALLOWED: ["This host is not allowed", `createActuator({ allowedHosts: ["${location.hostname}"], … })`],
  CROSS_SITE: ["This origin is not allowed", `createActuator({ cors: { origins: ["${location.origin}"] }, … })`],
};

/** What takes the place of the screen if the service refuses this page. */
export function SignIn() {
  const state = connection.value;
  if (state.status !== "refused") return null;
  const { code, reason, message } = state.fault;
  if (code === "UNAUTHENTICATED") return <SignInForm />;
  const [title, remedy] = REMEDIES[reason] ?? ["The service refuses this page"];
  return (
    <State icon="ui-lock" title={title}>
      <p>{message}</p>
      {remedy !== undefined && <CommandText text={remedy} />}
      <div class="btns">
        <button class="btn" type="button" onClick={() => link.retry()}>
          Try again
        </button>
        {remedy === undefined && (
          <button class="btn" type="button" onClick={() => openDialog(<SignInForm />, { label: "Sign in" })}>
            Use another token
          </button>
        )}
      </div>
    </State>
  );
}

/** Asks for the token that the service wants. */
export function SignInForm() {
  const [token, setToken] = useState("");
  const [remember, setRemember] = useState(false);
  const id = useId();
  const state = connection.value;
  const name = application.value?.name;
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim() === "") return;
    closeDialog();
    signIn(`Bearer ${token.trim()}`, remember);
  };
  return (
    <form class="state state-form" aria-label="Token" onSubmit={submit}>
      <Icon name="ui-key" />
      <h2>Sign in{name && ` to ${name}`}</h2>
      <p>This service requires a token. It stays in the memory of this tab and never appears in a URL.</p>
      <div class="form">
        <label class="label" for={id}>
          Token
        </label>
        <span class="field">
          <Icon name="ui-key" />
          <input
            id={id}
            type="password"
            required
            autofocus
            autocomplete="off"
            class="mono"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </span>
        <label class="check-row">
          <input
            type="checkbox"
            checked={remember}
            onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
          />{" "}
          Remember it for this tab (session storage)
        </label>
        {state.status === "refused" && state.hadCredentials && (
          <p class="err" role="alert">
            <Icon name="ui-error" />
            {/credentials of this form/.test(state.fault.message)
              ? "This is not a token of this service."
              : state.fault.message}
          </p>
        )}
        <button class="btn main-action" type="submit">
          Sign in
        </button>
      </div>
    </form>
  );
}
