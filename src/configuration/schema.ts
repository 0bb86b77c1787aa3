import { anything, type Check, type Checks, flag } from "../common/options.ts";
import type { Kind } from "./kind.ts";
import { CODE, isSection, type Note, type Section, type SectionNote, type Setting } from "./setting.ts";

/**
 * Puts a section together from the checks of its options and what is said of them. The checks decide what there is: an option
 * without a note is a setting all the same, where its check says what kind of value it takes.
 */
export function sectionOf(
  note: SectionNote,
  checks: Checks<object>,
  at: readonly string[] = [],
  check?: Check,
): Section {
  const members = new Map<string, Setting | Section>();
  const codeOnly: string[] = [];
  const standalone = note.standalone === true;
  for (const [name, check] of Object.entries(checks as Readonly<Record<string, Check>>)) {
    const member = memberOf(note.notes[name], check, [...at, name], standalone);
    if (member === undefined) codeOnly.push(name);
    else members.set(name, member);
  }
  return {
    at,
    description: note.description,
    members,
    codeOnly,
    check,
    flag: note.flag === undefined ? undefined : flagOf(note, at, standalone),
    always: note.always === true,
    standalone,
  };
}

/** What is surely never to be shown, though nobody said so. */
const SECRET_NAME = /password|passphrase|secret|^token$/i;

function memberOf(
  note: Note | SectionNote | typeof CODE | undefined,
  check: Check,
  at: readonly string[],
  standalone: boolean,
): Setting | Section | undefined {
  if (note === CODE) return undefined;
  const { shape } = check;
  const nested = note !== undefined && "notes" in note ? note : undefined;
  const checks = nested?.checks ?? (shape?.kind === "object" ? shape.checks : undefined);
  if (checks !== undefined && (nested !== undefined || note === undefined)) {
    const own: SectionNote = nested ?? { description: "", notes: {} };
    return sectionOf(standalone ? { ...own, standalone } : own, checks, at, nested?.checks ? undefined : check);
  }
  if (nested !== undefined) throw new TypeError(`${at.join(".")} is described as a section and has no checks`);
  const said = note as Note | undefined;
  const kind = said?.kind ?? kindOf(check);
  const secret = SECRET_NAME.test(at.at(-1)!) ? { secret: true as const } : {};
  return kind && { description: "", ...secret, ...said, at, kind, check, standalone };
}

/** The kind of value that a check takes; undefined where only code can pass one. */
function kindOf({ shape }: Check): Kind | undefined {
  if (shape === undefined || shape.kind === "code" || shape.kind === "object") return undefined;
  if (shape.kind !== "list") return shape.kind;
  return (shape.of.shape?.kind ?? "text") === "text" ? "list" : "json";
}

function flagOf(note: SectionNote, at: readonly string[], standalone: boolean): Setting {
  return { at, kind: "flag", check: flag, description: note.description, default: note.flag, standalone };
}

/** Every setting of a section and of those in it, in the order of the options. */
export function settingsOf(section: Section): Setting[] {
  const members = [...section.members.values()].flatMap((each) => (isSection(each) ? settingsOf(each) : [each]));
  return section.flag === undefined ? members : [section.flag, ...members];
}

/** Stands for a section of which nothing is said but that it is there. */
export function emptySetting({ at, description, standalone }: Section): Setting {
  return { at, kind: "json", check: anything, description, standalone };
}
