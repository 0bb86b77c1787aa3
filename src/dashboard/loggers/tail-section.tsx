import { useEffect, useMemo, useState } from "preact/hooks";
import { ROOT } from "../../loggers/name.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { Icon } from "../components/icon.tsx";
import { LogsForbidden } from "../logs/forbidden.tsx";
import { LogTail } from "../logs/tail.ts";
import { TailView } from "../logs/tail-view.tsx";
import { type KeyTable, useKeys } from "../shell/keys.ts";
import { loggers } from "../state/loggers.ts";
import { hrefOf } from "../state/route.ts";
import { may } from "../state/server.ts";

const RECENT = 100;

/** What a logger and those below it write, live, for as long as it is shown. */
export function TailSection({ name, onClose }: { name: string; onClose: () => void }) {
  const tail = useMemo(() => new LogTail(), []);
  const [sought, setSought] = useState("");
  const isGroup = loggers.peek().groups.has(name);
  const names = name === ROOT ? [] : isGroup ? [name] : [name, `${name}.*`];
  const isAllowed = may("logs:read");
  useEffect(() => {
    if (isAllowed) tail.open({ names, contains: sought || undefined, recent: RECENT });
    return () => tail.close();
  }, [name, sought, isAllowed]);
  const isPaused = tail.isPaused.value;
  const toggle = () => (tail.isPaused.peek() ? tail.resume() : tail.pause());
  const keys: KeyTable = { Space: toggle };
  useKeys(keys);
  const copy = () => {
    const lines = document.querySelectorAll<HTMLElement>(".lg-tail .ln");
    void copyText(
      [...lines].map((each) => each.innerText.replace(/\s*\n\s*/g, " ")).join("\n"),
      "The records are copied.",
    );
  };
  return (
    <section class="lg-tail pane" aria-labelledby="h-tail">
      <div class="sec-head lg-tail-h">
        <i class="dot" />
        <h3 id="h-tail">Live</h3>
        <label class="field lg-find">
          <Icon name="ui-search" />
          <span class="vh">Search these records</span>
          <input placeholder="Search" value={sought} onInput={({ currentTarget }) => setSought(currentTarget.value)} />
        </label>
        <Button
          look="plain icon"
          icon={isPaused ? "ui-play" : "ui-pause"}
          label={isPaused ? "Resume" : "Pause"}
          keys="Space"
          onClick={toggle}
        />
        <Button look="plain icon" icon="ui-copy" label="Copy what is shown" onClick={copy} />
        <a
          class="btn plain icon"
          href={hrefOf("logs", "", { names: names.join(",") })}
          aria-label="Open in Logs"
          title="Open in Logs"
        >
          <Icon name="ui-jump" />
        </a>
        <Button look="plain icon" icon="ui-x" label="Close the tail" keys="t" onClick={onClose} />
      </div>
      {isAllowed ? (
        <TailView tail={tail} compact label={`Records of ${name.slice(0, 200)}`} sought={sought} />
      ) : (
        <LogsForbidden />
      )}
    </section>
  );
}
