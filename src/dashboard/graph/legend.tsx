import { WAYS } from "./model.ts";

/** How the kinds of links look. */
export function Legend() {
  return (
    <div class="gr-key" role="group" aria-label="Kinds of links">
      {WAYS.map((way) => {
        const look = way === "message" ? "" : way;
        return (
          <span key={way}>
            <svg viewBox="0 0 36 12" aria-hidden="true">
              <path class={`lk ${look}`} d="M0 6H29" />
              <path class={`ah ${look}`} d="M29 2v8l7-4z" />
            </svg>
            {way}
          </span>
        );
      })}
    </div>
  );
}
