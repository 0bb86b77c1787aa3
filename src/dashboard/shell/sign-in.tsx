import { useState } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { State } from "../components/state.tsx";
import { connection, signIn } from "../state/server.ts";

/** Asks for the token that the service wants. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [remember, setRemember] = useState(false);
  const state = connection.value;
  if (state.status !== "refused") return null;
  if (state.fault.code !== "UNAUTHENTICATED") {
    return (
      <State icon="ui-lock" title="The service refuses this page">
        <p>{state.fault.message}</p>
      </State>
    );
  }
  const submit = (event: Event) => {
    event.preventDefault();
    signIn(`Bearer ${token}`, remember);
  };
  return (
    <form class="state state-form" aria-label="Token" onSubmit={submit}>
      <Icon name="ui-key" />
      <h3>Sign in</h3>
      <p>This service requires a token. It stays in the memory of this tab and never appears in a URL.</p>
      <div class="form">
        <label class="label" for="token">
          Token
        </label>
        <span class="field">
          <Icon name="ui-key" />
          <input
            id="token"
            type="password"
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
        {state.hadCredentials && (
          <p class="err">
            <Icon name="ui-error" />
            {state.fault.message}
          </p>
        )}
        <button class="btn main-action" type="submit">
          Sign in
        </button>
      </div>
    </form>
  );
}
