import { styled } from "./output.ts";

/** The widest that a column makes the others move; a longer cell runs over. */
const WIDEST = 60;

/** A column: its title and how wide it has to be at least. */
export interface Column {
  readonly title: string;
  readonly width: number;
}

/** Columns that fit these rows of plain text, a row being as long as the titles. */
export function columnsFor(titles: readonly string[], rows: readonly (readonly string[])[]): Column[] {
  return titles.map((title, at) => {
    const width = rows.reduce((widest, row) => Math.max(widest, row[at]!.length), title.length);
    return { title, width: Math.min(width, WIDEST) };
  });
}

/** A line of these columns, with nothing at its end. */
export function tableLine(columns: readonly Column[], cells: readonly string[]): string {
  return cells
    .map((cell, at) => cell.padEnd(columns[at]!.width))
    .join("  ")
    .trimEnd();
}

/** The line of their titles. */
export function titleLine(columns: readonly Column[]): string {
  const titles = columns.map(({ title }) => title);
  return styled("bold", tableLine(columns, titles));
}

/** The lines of a table of plain text under its titles. */
export function tableLines(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = columnsFor(titles, rows);
  return [titleLine(columns), ...rows.map((row) => tableLine(columns, row))];
}
