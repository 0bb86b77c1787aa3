import "../styles/log-lines.css";
import "../styles/logs.css";
import "./tail-view.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { count, counted } from "../components/number.ts";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { clock, duration } from "../components/time.tsx";
import { type KeyTable, useKeys } from "../shell/keys.ts";
import { now } from "../state/clock.ts";
import { go } from "../state/route.ts";
import type { Chunk } from "./lines.ts";
import { withCondition } from "./search.ts";
import type { LogTail } from "./tail.ts";
import { ChunkRows, type RowLook } from "./tail-row.tsx";

/** Chunks in the document: while lines come, what fills a screen; when it is paused, more, and with each step back as many again. */
const CHUNK_PX = 500;
const LIVE_CHUNKS = 8;
const PAUSED_CHUNKS = 16;
/** How near to the first line, in pixels, more are shown. */
const NEAR = 600;
const ANNOUNCE_MS = 10_000;

interface TailViewProps {
  readonly tail: LogTail;
  /** In a side panel: short times, and no names of loggers. */
  readonly compact?: boolean;
  readonly label?: string;
  /** A text to mark. */
  readonly sought?: string;
  /** Adds a condition to the search; by default, the screen of logs opens with it. */
  readonly onCondition?: (field: string, value: string) => void;
}

/** The lines of a tail, the newest at the bottom. Scrolling up and opening a record pause it. */
export function TailView({
  tail,
  compact = false,
  label = "Log records, newest at the bottom",
  sought = "",
  onCondition,
}: TailViewProps) {
  const [open, setOpen] = useState<number | undefined>(undefined);
  const [shown, setShown] = useState(PAUSED_CHUNKS);
  /** What in this view paused it, and so lets it go on. */
  const pausedBy = useRef<"scroll" | "line" | undefined>(undefined);
  /** Where the line is that opens or closes. */
  const held = useRef<{ readonly line: Element; readonly top: number } | undefined>(undefined);
  const element = useRef<HTMLDivElement>(null);
  const look = useMemo<RowLook>(
    () => ({ isCompact: compact, sought, onCondition: onCondition ?? ((field, value) => toLogs(tail, field, value)) }),
    [compact, sought, onCondition, tail],
  );
  const isPaused = tail.isPaused.value;
  useEffect(() => {
    if (isPaused) return;
    pausedBy.current = undefined;
    setShown(PAUSED_CHUNKS);
    setOpen(undefined);
    element.current?.scrollTo({ top: 0 });
  }, [isPaused]);
  // A line stays where it is while its record opens above the bottom, to which the list is pinned.
  useLayoutEffect(() => {
    const { line, top } = held.current ?? {};
    held.current = undefined;
    const log = element.current;
    if (line === undefined || top === undefined || log === null || !line.isConnected) return;
    log.scrollTop += line.getBoundingClientRect().top - top;
    const record = open === undefined ? null : line.nextElementSibling;
    if (record === null) return;
    // When the line that tells of the pause has taken its place.
    requestAnimationFrame(() => {
      const frame = log.getBoundingClientRect();
      const below = record.getBoundingClientRect().bottom - frame.bottom;
      if (below > 0) log.scrollTop += Math.min(below, line.getBoundingClientRect().top - frame.top);
    });
  }, [open]);
  const pause = (by: "scroll" | "line") => {
    if (tail.isPaused.peek()) return;
    pausedBy.current = by;
    tail.pause();
  };
  const more = () => setShown(shown + PAUSED_CHUNKS);
  const onScroll = () => {
    // The bottom is 0, and what is above it negative.
    const { scrollTop, scrollHeight, clientHeight } = element.current!;
    if (isPaused && scrollHeight - clientHeight + scrollTop < NEAR && shown < tail.chunks.peek().length) more();
    if (scrollTop < -24) pause("scroll");
    else if (scrollTop > -2 && pausedBy.current === "scroll" && open === undefined) tail.resume();
  };
  const toggle = (id: number) => {
    const line = document.getElementById(`ln-${id}`);
    if (line !== null) held.current = { line, top: line.getBoundingClientRect().top };
    if (open === id && pausedBy.current === "line") tail.resume();
    else pause("line");
    setOpen(open === id ? undefined : id);
  };
  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    if (target.closest("a, .rec, button:not(.ln-at)") !== null || !getSelection()?.isCollapsed) return;
    const line = target.closest<HTMLElement>("[data-line]");
    if (line !== null) toggle(Number(line.dataset.line));
  };
  const step = (by: number) => {
    pause("line");
    move(element.current!, by);
  };
  const close = () => {
    if (open !== undefined) {
      const line = document.getElementById(`ln-${open}`);
      toggle(open);
      line?.querySelector<HTMLElement>(".ln-at")?.focus({ preventScroll: true });
    } else if (pausedBy.current === "line") tail.resume();
    else return false;
    return true;
  };
  const keys: KeyTable = {
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: close,
  };
  // In a panel, the keys of the page are those of the screen beside it.
  useKeys(compact ? {} : keys);
  const onKeyDown = (event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && keys[event.key] !== undefined && keys[event.key]!(event) !== false) event.preventDefault();
  };
  const all = tail.chunks.value;
  const drawn = isPaused
    ? shown
    : tail.isFlood.value
      ? Math.ceil((element.current?.clientHeight ?? 0) / CHUNK_PX) + 1
      : LIVE_CHUNKS;
  const chunks = all.slice(-drawn);
  const isEmpty = chunks.length === 0;
  return (
    <>
      <div
        ref={element}
        class={compact ? "scroll log small" : "scroll log"}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the arrow keys move within it.
        tabIndex={0}
        onScroll={onScroll}
        onClick={onClick}
        onKeyDown={onKeyDown}
      >
        <div>
          {isEmpty ? <Nothing tail={tail} /> : <Older tail={tail} hidden={all.slice(0, -drawn)} onMore={more} />}
          {chunks.map((chunk) => (
            <ChunkRows key={chunk.id} chunk={chunk} look={look} open={within(chunk, open)} />
          ))}
          <Ending tail={tail} isEmpty={isEmpty} />
        </div>
      </div>
      <Announcer tail={tail} />
    </>
  );
}

/** Moves the focus to the next or previous line. */
function move(log: HTMLElement, step: number): void {
  const lines = [...log.querySelectorAll<HTMLElement>(".ln-at")];
  const at = lines.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? lines.at(-1) : lines[at + step];
  next?.focus({ preventScroll: true });
  next?.closest(".ln")?.scrollIntoView({ block: "nearest" });
}

function within({ lines }: Chunk, open: number | undefined): number | undefined {
  return open !== undefined && lines.some(({ id }) => id === open) ? open : undefined;
}

function toLogs({ query }: LogTail, field: string, value: string): void {
  go("logs", "", { names: query.names.join(","), search: withCondition("", field, value) });
}

/** What stands above the first line. */
function Older({ tail, hidden, onMore }: { tail: LogTail; hidden: readonly Chunk[]; onMore: () => void }) {
  const lines = hidden.reduce((sum, chunk) => sum + chunk.lines.length, 0);
  if (lines > 0) {
    return (
      <div class="ln-note">
        <Icon name="ui-history" class="i12x" />
        {counted(lines, "earlier line")}
        <Button
          onClick={() => {
            tail.pause();
            onMore();
          }}
        >
          Show
        </Button>
      </div>
    );
  }
  if (tail.gone === 0) return null;
  return (
    <div class="ln-note">
      <Icon name="ui-info" class="i12x" />
      {counted(tail.gone, "older record")} no longer kept here
    </div>
  );
}

/** What stands below the last line: that it is paused, or lost. */
function Ending({ tail, isEmpty }: { tail: LogTail; isEmpty: boolean }) {
  const status = tail.status.value;
  const newer = tail.newer.value;
  return (
    <>
      {status.is === "lost" && (
        <div class="ln-note">
          <Icon name="ui-offline" class="i12x is-warn" />
          No connection for {duration(Math.max(0, now.value - status.since))}, reconnecting …
        </div>
      )}
      {status.is === "refused" && !isEmpty && (
        <div class="ln-note">
          <Icon name="ui-error" class="i12x is-bad" />
          The service ended this tail: {status.fault.message}
        </div>
      )}
      {tail.isPaused.value && !isEmpty && (
        <div class="ln-note ln-paused">
          <Icon name="ui-pause" class="i12x" />
          Paused{newer > 0 && ` · ${counted(newer, "newer record")}`}
          <Button onClick={() => tail.resume()}>Resume</Button>
        </div>
      )}
    </>
  );
}

/** Instead of lines. */
function Nothing({ tail }: { tail: LogTail }) {
  const status = tail.status.value;
  const started = tail.started.value;
  if (status.is === "refused") {
    return <FaultState fault={status.fault} what="log records" onRetry={() => tail.open(tail.query)} />;
  }
  if (status.is === "closed") return <State icon="ui-logs" title="This tail is closed" />;
  if (status.is !== "open" || started === undefined) return <Skeleton what="log records" />;
  const { loggers } = started;
  const isNarrow = tail.query.contains || Object.keys(tail.query.fields ?? {}).length > 0;
  return (
    <State icon="ui-logs" title="No record yet">
      <p>
        {loggers === 0 ? "No logger has this name yet" : `Listening to ${counted(loggers, "logger")}`} since{" "}
        {clock(status.since)}.{" "}
        {isNarrow
          ? "Only records that the search finds are shown."
          : tail.raise.value === undefined && "Raising the level to DEBUG shows more."}
      </p>
    </State>
  );
}

/** Tells screen readers at most every ten seconds what has come. */
function Announcer({ tail }: { tail: LogTail }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let before = tail.received.peek();
    const timer = setInterval(() => {
      const received = tail.received.peek();
      const errors = Math.round(10 * tail.volume.rate(Date.now(), Level.FATAL, Level.ERROR));
      if (received !== before && !tail.isPaused.peek()) {
        setText(`${count(received - before)} new records${errors > 0 ? `, ${counted(errors, "error")}` : ""}`);
      }
      before = received;
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, [tail]);
  return (
    <div class="vh" role="status">
      {text}
    </div>
  );
}
