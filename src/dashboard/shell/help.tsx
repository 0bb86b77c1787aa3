import { closeDialog } from "../state/dialog.ts";
import { areKeysOn, switchKeys } from "./keys.ts";

/** The keys of all screens. */
const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["/", "find anything; / again moves to the filter of the page"],
  ["?", "this list"],
  ["g o", "Overview; l Loggers, t Logs, s Sessions, g Graph, f Fleet"],
  ["j k", "next and previous row; arrows work too"],
  ["← →", "close and open a branch; left and right on a level"],
  ["Enter", "open the row; Esc closes it"],
  ["1 … 7", "OFF to TRACE for the row, 0 inherits again"],
  ["b", "restore the row; Shift b restores all, after confirmation"],
  ["m", "measure; t tail; h history"],
  ["Space", "pause or resume the tail"],
  ["f", "focus the node; + − 0 zoom; arrows go along links; t table"],
];

/** The keys, and the switch that turns those of one character off. */
export function Help() {
  return (
    <>
      <div class="dlg-body">
        <h2 id="dialog-title">Keys</h2>
        <dl class="keys">
          {KEYS.map(([keys, what]) => (
            <>
              <dt>
                {keys.split(" ").map((key) => (
                  <kbd>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <label class="check-row">
          <input
            type="checkbox"
            checked={areKeysOn.value}
            onChange={({ currentTarget }) => switchKeys(currentTarget.checked)}
          />{" "}
          Keys of one character are on (this browser remembers it)
        </label>
      </div>
      <div class="dlg-foot">
        <button class="btn main-action" type="button" autofocus onClick={closeDialog}>
          Close
        </button>
      </div>
    </>
  );
}
