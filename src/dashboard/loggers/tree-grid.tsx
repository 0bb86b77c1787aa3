import { useSignal, useSignalEffect } from "@preact/signals";
import { h, type VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { loggers } from "../state/loggers.ts";
import { isFlat, nameOf, reveal, select, selected, shownRows, toggle } from "./model.ts";
import { type RowProps, RowView } from "./row-view.tsx";
import type { Row } from "./rows.ts";

const OVERSCAN = 6;
/** What a row that has the whole control takes more on a phone. */
const OPEN_ROW_REM = 3.25;

/** The row that the keys act on. It stays where it is in the document while it has focus, even out of sight. */
export interface ActiveRow {
  readonly row: Row | undefined;
  readonly name: string | undefined;
}

let activeId = "";

/** The row that has, or last had, focus. */
export function activeRow(): ActiveRow {
  const row = shownRows.peek().rows.find(({ id }) => id === activeId);
  return { row, name: row && nameOf(row) };
}

/** The rows in sight, in a grid of its full height. */
export function TreeGrid() {
  const grid = useRef<HTMLDivElement>(null);
  const sight = useSignal({ from: 0, to: 40 });
  const active = useSignal(activeId);
  const hasFocus = useRef(false);
  const wanted = useRef<string | undefined>(undefined);
  const drawn = useRef<Map<string, VNode<RowProps>>>(new Map());
  const { rows } = shownRows.value;
  const { revision } = loggers.value;
  const subject = selected.value;
  const { row: height, head, extra } = sizes();
  const selectedAt = subject === "" ? -1 : rows.findIndex((row) => nameOf(row) === subject);
  const topOf = (index: number) => index * height + (selectedAt !== -1 && index > selectedAt ? extra : 0);

  const look = () => {
    const element = grid.current;
    if (element === null) return;
    const pane = element.closest<HTMLElement>(".scroll")!.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    const top = Math.max(pane.top, 0) - box.top;
    const bottom = Math.min(pane.bottom, innerHeight) - box.top;
    const from = Math.max(0, Math.floor((top - extra) / height) - OVERSCAN);
    const to = Math.ceil(bottom / height) + OVERSCAN;
    if (from !== sight.peek().from || to !== sight.peek().to) sight.value = { from, to };
  };
  useEffect(() => {
    look();
    addEventListener("scroll", look, { capture: true, passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look, { capture: true });
      removeEventListener("resize", look);
    };
  });

  const activeAt = Math.max(
    0,
    rows.findIndex(({ id }) => id === active.value),
  );
  activeId = rows[activeAt]?.id ?? "";
  const from = Math.min(sight.value.from, Math.max(0, rows.length - 1));
  const to = Math.min(sight.value.to, rows.length);
  const visible: number[] = [];
  if (activeAt < from && activeAt < rows.length) visible.push(activeAt);
  for (let index = from; index < to; index++) visible.push(index);
  if (activeAt >= to && activeAt < rows.length) visible.push(activeAt);

  const show = (index: number, isCentred = false) => {
    const pane = grid.current!.closest<HTMLElement>(".scroll")!;
    const isScroller = getComputedStyle(pane).overflowY !== "visible";
    const top = topOf(index) + head;
    const scroller = isScroller ? pane : document.scrollingElement!;
    const offset = isScroller ? 0 : grid.current!.getBoundingClientRect().top + scroller.scrollTop;
    const [start, end] = [scroller.scrollTop - offset + head, scroller.scrollTop - offset + scroller.clientHeight];
    if (top >= start && top + height <= end) return;
    const target = isCentred
      ? top - scroller.clientHeight / 2
      : top < start
        ? top - head
        : top + height - scroller.clientHeight;
    scroller.scrollTop = target + offset;
    look();
  };
  const focusRow = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    show(rows.indexOf(row));
    wanted.current = row.id;
    active.value = row.id;
    focusWanted();
  };
  const focusWanted = () => {
    if (wanted.current === undefined) return;
    const index = rows.findIndex(({ id }) => id === wanted.current);
    const element = grid.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (element == null) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
  };
  useLayoutEffect(focusWanted);

  // What a link selects comes into sight, once it is known.
  const revealed = useRef("");
  useSignalEffect(() => {
    const name = selected.value;
    if (name === "" || !loggers.value.isLoaded) revealed.current = "";
    if (name === revealed.current || !loggers.value.isLoaded) return;
    revealed.current = name;
    const at = () => shownRows.peek().rows.findIndex((row) => nameOf(row) === name);
    if (at() === -1 && !isFlat.peek()) reveal(name);
    const index = at();
    if (index === -1) return;
    active.value = shownRows.peek().rows[index]!.id;
    requestAnimationFrame(() => grid.current && show(index, true));
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[activeAt];
    const page = Math.max(1, to - from - 2 * OVERSCAN - 1);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focusRow(activeAt + 1),
      ArrowUp: () => focusRow(activeAt - 1),
      PageDown: () => focusRow(activeAt + page),
      PageUp: () => focusRow(activeAt - page),
      Home: () => focusRow(0),
      End: () => focusRow(rows.length - 1),
      ArrowRight: () =>
        row?.isOpen === false ? toggle(row, true) : row?.isOpen ? focusRow(activeAt + 1) : focusControl(),
      ArrowLeft: () => (row?.isOpen ? toggle(row, false) : focusRow(parentAt(rows, activeAt))),
    };
    const isOnRow = (event.target as Element).getAttribute("role") === "row";
    if (event.key === "Enter" && isOnRow && row !== undefined) {
      event.preventDefault();
      const name = nameOf(row);
      if (name !== undefined) select(name === subject ? "" : name);
    } else if (event.key === "Escape" && !isOnRow) {
      event.preventDefault();
      focusRow(activeAt);
    } else if (moves[event.key] !== undefined) {
      event.preventDefault();
      moves[event.key]!();
    }
  };
  const focusControl = () => {
    grid.current?.querySelector<HTMLElement>(`[data-index="${activeAt}"] [role=radio][tabindex="0"]`)?.focus();
  };
  const onClick = (event: Event) => {
    const target = event.target as Element;
    const index = target.closest<HTMLElement>("[data-index]")?.dataset.index;
    const row = index === undefined ? undefined : rows[Number(index)];
    if (row === undefined) return;
    active.value = row.id;
    if (target.closest("[data-toggle]") !== null) toggle(row);
    else if (target.closest("[data-level], [data-details], a") === null) {
      const name = nameOf(row);
      if (name !== undefined) select(name);
    }
  };

  // The same element as before is not looked at again, so that scrolling costs only the rows that come into sight.
  const before = drawn.current;
  drawn.current = new Map();
  const shownRow = (row: Row, index: number, top: number) => {
    const [isSelected, isActive] = [index === selectedAt, index === activeAt];
    const known = before.get(row.id);
    const props = known?.props as RowProps | undefined;
    const isSame =
      props !== undefined &&
      props.row === row &&
      props.index === index &&
      props.top === top &&
      props.isSelected === isSelected &&
      props.isActive === isActive &&
      props.version === revision;
    const element = isSame
      ? known!
      : (h(RowView, { key: row.id, row, index, top, isSelected, isActive, version: revision }) as VNode<RowProps>);
    drawn.current.set(row.id, element);
    return element;
  };
  moveActive = (step) => focusRow(hasFocus.current ? activeAt + step : activeAt);
  return (
    <div
      ref={grid}
      role="treegrid"
      aria-label="Loggers"
      aria-rowcount={rows.length + 1}
      class="lg-grid"
      style={{ height: `${topOf(rows.length) + head}px` }}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onFocusIn={(event) => {
        hasFocus.current = true;
        const index = (event.target as Element).closest<HTMLElement>("[data-index]")?.dataset.index;
        if (index !== undefined && rows[Number(index)] !== undefined) active.value = rows[Number(index)]!.id;
      }}
      onFocusOut={() => {
        hasFocus.current = false;
      }}
    >
      <div class="tr tr-head" role="row" aria-rowindex={1}>
        <span role="columnheader">Name</span>
        <span role="columnheader" class="num">
          Until
        </span>
        <span role="columnheader">Level</span>
      </div>
      {visible.map((index) => shownRow(rows[index]!, index, topOf(index) + head))}
    </div>
  );
}

let moveActive: (step: number) => void = () => undefined;

/** Moves to the next or previous row; to the present one if focus is elsewhere. */
export function moveRow(step: number): void {
  moveActive(step);
}

function parentAt(rows: readonly Row[], index: number): number {
  const depth = rows[index]?.depth ?? 1;
  for (let at = index - 1; at >= 0; at--) if (rows[at]!.depth < depth) return at;
  return index;
}

/** Heights as the tokens and the width say: of a row, of the head, and what the open row takes more. */
function sizes(): { readonly row: number; readonly head: number; readonly extra: number } {
  const style = getComputedStyle(document.documentElement);
  const rem = Number.parseFloat(style.fontSize);
  const row = Number.parseFloat(style.getPropertyValue("--h-row")) * rem;
  const isNarrow = matchMedia("(max-width: 639px)").matches;
  return { row, head: isNarrow ? 0 : 1.875 * rem, extra: isNarrow ? OPEN_ROW_REM * rem : 0 };
}
