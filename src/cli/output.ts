import { clearLine, cursorTo } from "node:readline";
import { styleText } from "node:util";

/** The colours and weights that are used. */
export type Format = Parameters<typeof styleText>[0];

/** Writes a line of the answer to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a line about the answer to standard error, so that it stays out of pipes. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

let isStyled: boolean | undefined;

/** Colours text if standard output is a terminal; NO_COLOR and FORCE_COLOR override that. */
export function styled(format: Format, text: string): string {
  // To ask the stream each time would cost twenty times the rest.
  isStyled ??= styleText("bold", "x", { stream: process.stdout }) !== "x";
  return isStyled ? styleText(format, text, { validateStream: false }) : text;
}

let leave: () => void = () => process.exit();

/** The errors of writing to a pipe without a reader and to a terminal that is closed. */
const NO_READER: readonly unknown[] = ["EPIPE", "EIO"];

/** Ends the command silently when the reader of its output closes the pipe, as `head` does, or the terminal is closed. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!NO_READER.includes(error.code)) throw error;
      if (stream === process.stdout) leave();
      else process.exit();
    });
  }
}

/** Has the command end in order when the reader of its output is gone. */
export function whenReaderLeaves(act: () => void): void {
  leave = act;
}

/** Formats a point in time in the local time zone: `2026-10-01 14:32:10`. */
export function timeText(milliseconds: number): string {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "?";
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":")}`;
}

/** Formats a point in time like {@link timeText}, without the day if that is today. */
export function shortTimeText(milliseconds: number): string {
  const [day, clock] = timeText(milliseconds).split(" ");
  const [today] = timeText(Date.now()).split(" ");
  return day === today && clock !== undefined ? clock : timeText(milliseconds);
}

/** The time of day now, dimmed: it begins each line of a watch. */
export function clockText(): string {
  return styled("dim", timeText(Date.now()).slice(-8));
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

/** The width from which a cell overflows instead of widening its column. */
const MAX_COLUMN_WIDTH = 60;

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** The minimum width. */
  readonly width: number;
  /** Whether it is also the greatest: longer cells are cut. */
  readonly isCut?: boolean;
  /** Returns the colour of a cell; undefined: none. */
  readonly colour?: ((cell: string) => Format | undefined) | undefined;
}

/** What a table looks like on a terminal. */
export interface TableLook {
  /** The titles of the columns that are cut if the table is wider than the terminal, the first to be cut first. */
  readonly cut?: readonly string[];
  /** The colours of cells, by the titles of their columns. */
  readonly colours?: Readonly<Record<string, Column["colour"]>>;
}

/** How narrow a column may become that is cut. */
const MIN_CUT_WIDTH = 4;

/** Creates columns that fit these rows of plain text, and the terminal if enough of them may be cut; each row has a cell for each title. */
export function columnsFor(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { cut = [], colours = {} }: TableLook = {},
): Column[] {
  const room = terminalWidth();
  const widths = titles.map((_, at) => rows.reduce((widest, row) => Math.max(widest, row[at]!.length), 0));
  const columns = titles.map((title, at): Column => {
    const width = Math.min(Math.max(title.length, widths[at]!), MAX_COLUMN_WIDTH);
    return { title, width, colour: colours[title], isCut: room !== Infinity && cut.includes(title) };
  });
  let excess = columns.reduce((sum, { width }) => sum + width + 2, -2) - room;
  // A title is cut before what is below it.
  for (const least of [widths, widths.map(() => 0)]) {
    for (const at of cut.map((title) => titles.indexOf(title))) {
      if (excess <= 0) return columns;
      const column = columns[at]!;
      const width = Math.min(column.width, Math.max(least[at]!, MIN_CUT_WIDTH, column.width - excess));
      excess -= column.width - width;
      columns[at] = { ...column, width };
    }
  }
  return columns;
}

/** Formats a row, without trailing spaces. */
export function tableLine(columns: readonly Column[], cells: readonly string[]): string {
  return cells
    .map((cell, at) => {
      const { width, isCut, colour } = columns[at]!;
      const text = isCut ? shortened(cell, width) : cell;
      const format = colour?.(cell);
      return (format === undefined ? text : styled(format, text)) + " ".repeat(Math.max(0, width - text.length));
    })
    .join("  ")
    .trimEnd();
}

/** Formats the row of titles. */
export function titleLine(columns: readonly Column[]): string {
  const titles = columns.map(({ title }) => title);
  return styled("bold", tableLine(columns, titles));
}

/** Formats a table of plain text. */
export function tableLines(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  look?: TableLook,
): string[] {
  const columns = columnsFor(titles, rows, look);
  return [titleLine(columns), ...rows.map((row) => tableLine(columns, row))];
}

/** Cuts a text to a length. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** How many characters a line of the output may have. A terminal that does not know its width has that of most. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Infinity;
}

/** Formats a count with its noun: `1 session`, `1,234 sessions`. */
export function countText(count: number | bigint, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 || count === 1n ? "" : "s"}`;
}

/** Lists so many texts at most: `one, two and 3 more`. */
export function listText(texts: readonly string[], most: number): string {
  const listed = texts.slice(0, most).join(", ");
  return texts.length > most ? `${listed} and ${texts.length - most} more` : listed;
}

/** Prints one thing in detail: its name, then a line for each label and text, with labels padded to `labelWidth`. */
export function printDetails(
  name: string,
  labelWidth: number,
  lines: readonly (readonly [label: string, text: string])[],
): void {
  print(styled("bold", name));
  for (const [label, text] of lines) print(`  ${label.padEnd(labelWidth)}${text}`);
}

/** A line at the bottom of the terminal that is rewritten every second. Shows nothing if standard error is not a terminal. */
export class StatusLine {
  readonly #stream = process.stderr;
  #timer: NodeJS.Timeout | undefined;

  /** `text` returns what the line shows now. */
  constructor(text: () => string) {
    if (!this.#stream.isTTY) return;
    const write = () => {
      cursorTo(this.#stream, 0);
      this.#stream.write(text());
      clearLine(this.#stream, 1);
    };
    write();
    this.#timer = setInterval(write, 1_000);
  }

  /** Removes the line, so that others can be written in its place. */
  close(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }
}
