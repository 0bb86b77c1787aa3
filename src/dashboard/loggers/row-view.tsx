import { FleetMark } from "../components/fleet-mark.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelControl } from "../components/level-control.tsx";
import { count } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { chooseLevel, pending } from "../state/levels.ts";
import { whyNot } from "../state/server.ts";
import { levelOf, levelOfGroup, mainKind, markOf, nameOf, type ShownLevel, select } from "./model.ts";
import type { Row } from "./rows.ts";

const MAX_TITLE = 1_000;
/** A row shows at most so much of a name; the style cuts it before. */
const MAX_SHOWN = 300;

/** What a row depends on, besides signals. */
export interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly isSelected: boolean;
  /** Whether the tab key stops at this row. */
  readonly isActive: boolean;
  /** Moves with each change of levels. */
  readonly version: bigint;
}

/** One row of the tree or list. */
export function RowView({ row, index, top, isSelected, isActive }: RowProps) {
  const { node, group, depth, isOpen, isPath } = row;
  const name = nameOf(row);
  const logger = node?.logger;
  const override = (group ?? logger)?.override;
  const level = group !== undefined ? levelOfGroup(group) : node !== undefined ? levelOf(node) : undefined;
  return (
    <div
      class={`tr${isPath ? " path" : ""}${depth > 6 ? " deep" : ""}`}
      role="row"
      aria-level={depth}
      aria-rowindex={index + 2}
      aria-expanded={isOpen}
      aria-selected={isSelected || undefined}
      data-index={index}
      tabIndex={isActive ? 0 : -1}
      style={{ top: `${top}px` }}
    >
      <div
        class="tr-name"
        role="gridcell"
        style={depth > 6 ? { paddingLeft: `${Math.min(depth - 1, 12)}rem` } : undefined}
      >
        {isOpen === undefined ? (
          <span class="tw-no" />
        ) : (
          <button
            class="tw"
            type="button"
            tabIndex={-1}
            data-toggle
            aria-label={`${isOpen ? "Close" : "Open"} ${group ? "group " : ""}${label(name ?? "")}`}
          >
            <Icon name={isOpen ? "ui-down" : "ui-right"} />
          </button>
        )}
        {group !== undefined && <Icon name="ui-groups" class="tr-gi" />}
        <Name row={row} />
        <Notes row={row} />
      </div>
      <div class="tr-over" role="gridcell">
        {level?.origin === "mixed" && <span class="chip line">mixed</span>}
        <FleetMark override={override} />
        {override !== undefined && <OverrideChip name={name!} override={override} />}
        {isSelected && name !== undefined && (
          <button
            class="btn plain icon only-narrow"
            type="button"
            data-details
            aria-label={`Details of ${label(name)}`}
            onClick={() => select(name, { details: "1" })}
          >
            <Icon name="ui-info" />
          </button>
        )}
      </div>
      <div role="gridcell">
        {level !== undefined && name !== undefined && <RowLevel name={name} shown={level} isStop={isActive} />}
      </div>
    </div>
  );
}

function RowLevel({ name, shown, isStop }: { name: string; shown: ShownLevel; isStop: boolean }) {
  return (
    <LevelControl
      name={name}
      {...shown}
      pending={pending.value.get(name)}
      whyNot={whyNot("loggers:write")}
      isStop={isStop}
      onChoose={(level) => void chooseLevel(name, level)}
    />
  );
}

function Name({ row: { node, text } }: { row: Row }) {
  const shown = text ?? node!.part;
  const whole = node?.logger?.name ?? node?.key ?? shown;
  const range = node === undefined ? undefined : markOf(node.key);
  const start = node === undefined ? 0 : node.key.length - shown.length;
  const [from, to] = range === undefined ? [0, 0] : [Math.max(0, range[0] - start), Math.max(0, range[1] - start)];
  return (
    <bdi class="cut" title={seen(whole.slice(0, MAX_TITLE))}>
      {seen(shown.slice(0, from))}
      {to > from && <mark>{seen(shown.slice(from, to))}</mark>}
      {seen(shown.slice(to, MAX_SHOWN))}
    </bdi>
  );
}

/** The library if it is not the main one, what is below a closed branch, and what limits the level. */
function Notes({ row: { node, group, isOpen, text } }: { row: Row }) {
  if (group !== undefined) return <span class="lib nowrap">group of {count(group.members.length)}</span>;
  if (node === undefined)
    return <span class="lib nowrap">{text?.endsWith(".*") ? "every logger below" : "no logger yet"}</span>;
  const { logger, below } = node;
  const warning = logger?.warnings.join(" ") ?? "";
  return (
    <>
      {isOpen === false && <span class="lib">{count(below)}</span>}
      {logger?.kind && logger.kind !== mainKind.value && <span class="lib nowrap">{logger.kind}</span>}
      {logger?.settingOnly && <span class="lib nowrap">no logger yet</span>}
      {warning !== "" && (
        <span class="is-warn tr-warn" title={seen(warning.slice(0, MAX_TITLE))}>
          <Icon name="ui-warning" size={12} />
          <span class="vh">{seen(warning.slice(0, MAX_TITLE))}</span>
        </span>
      )}
    </>
  );
}

function label(name: string): string {
  return seen(name.slice(0, 200));
}
