import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { LEVELS, levelName } from "../state/levels.ts";
import { seen } from "./outside.tsx";

/** Where a level comes from. `via`: it is inherited from a logger that an operator changed; `mixed`: members of a group differ. */
export type LevelOrigin = "inherited" | "configured" | "changed" | "via" | "mixed";

interface LevelControlProps {
  /** The logger or group. */
  readonly name: string;
  /** The level in force; of `mixed`, the least verbose one. */
  readonly level: Level;
  readonly origin: LevelOrigin;
  /** Of `mixed`, the most verbose level of a member. */
  readonly upTo?: Level | undefined;
  /** Of `changed`, the level that it returns to. */
  readonly base?: Level | undefined;
  /** A level that was asked for and is not confirmed. */
  readonly pending?: Level | undefined;
  /** Why it cannot be changed. */
  readonly whyNot?: string | undefined;
  /** Every level is spelled out. */
  readonly isWide?: boolean;
  /** Whether the tab key stops here; rows of a tree have one stop together. */
  readonly isStop?: boolean;
  readonly onChoose: (level: Level) => void;
}

const ORIGIN: Readonly<Record<LevelOrigin, string>> = {
  inherited: "inherited",
  configured: "configured",
  changed: "changed by an operator",
  via: "inherited from a changed logger",
  mixed: "mixed",
};
const MAX_LABEL = 200;
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The seven levels as one control: arrows move, Enter and Space choose. */
export function LevelControl({
  name,
  level,
  origin,
  upTo = level,
  base,
  pending,
  whyNot,
  isWide = false,
  isStop = true,
  onChoose,
}: LevelControlProps) {
  const isMixed = origin === "mixed";
  const where = isMixed ? `mixed: ${levelName(level)} to ${levelName(upTo)}` : ORIGIN[origin];
  const stop = isMixed ? level : pending || level;
  return (
    <div
      class={`lv ${origin}${isWide ? " wide" : isMixed ? "" : ` at-${level}`}`}
      role="radiogroup"
      aria-label={`Level of ${seen(name.slice(0, MAX_LABEL))}, ${where}${whyNot === undefined ? "" : `, cannot be changed: ${whyNot}`}`}
      aria-disabled={whyNot !== undefined || undefined}
      aria-busy={pending !== undefined || undefined}
      title={whyNot}
      onClick={(event) => {
        const chosen = levelAt(event);
        if (chosen === undefined || whyNot !== undefined) return;
        // A click on a segment is not one on its row.
        event.stopPropagation();
        if (isMixed || chosen !== level || pending !== undefined || origin === "inherited" || origin === "via")
          onChoose(chosen);
      }}
      onKeyDown={moveFocus}
    >
      {LEVELS.map((each) => {
        const word = levelName(each);
        const isChecked = !isMixed && each === level;
        return (
          <button
            key={each}
            type="button"
            role="radio"
            data-level={each}
            aria-checked={isChecked}
            aria-label={each === base && !isChecked ? `${word}, returns to this level` : word}
            tabIndex={isStop && each === (stop || Level.OFF) ? 0 : -1}
            class={classOf(each, { level, upTo, isMixed, base: isChecked ? undefined : base, pending })}
          >
            {word.charAt(0)}
            <span>{word.slice(1)}</span>
          </button>
        );
      })}
    </div>
  );
}

interface Look {
  readonly level: Level;
  readonly upTo: Level;
  readonly isMixed: boolean;
  readonly base: Level | undefined;
  readonly pending: Level | undefined;
}

function classOf(each: Level, { level, upTo, isMixed, base, pending }: Look): string | undefined {
  const words: string[] = [];
  if (each > Level.OFF && each <= upTo) words.push("on");
  if (isMixed && each >= level && each <= upTo) words.push("in");
  if (isMixed && each === level) words.push("first");
  if (isMixed && each === upTo) words.push("last");
  if (each === base) words.push("base");
  if (each === pending) words.push("asked");
  return words.length === 0 ? undefined : words.join(" ");
}

function levelAt({ target }: Event): Level | undefined {
  const level = (target as Element).closest<HTMLElement>("[data-level]")?.dataset.level;
  return level === undefined ? undefined : (Number(level) as Level);
}

function moveFocus(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  if (step === undefined || levelAt(event) === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const from = (event.target as Element).closest("[data-level]")!;
  const next = step === 1 ? from.nextElementSibling : from.previousElementSibling;
  (next as HTMLElement | null)?.focus();
}
