import { clearScreenDown, cursorTo, moveCursor } from "node:readline";

/** Lines on the terminal that are replaced by the next ones. Shows nothing anywhere else. */
export class LiveArea {
  readonly #stream = process.stdout;
  readonly #isLive = process.stdout.isTTY && process.env.TERM !== "dumb";
  #lines = 0;

  /** How many lines there is room for above the last one. */
  get height(): number {
    return (this.#stream.rows || 24) - 2;
  }

  /** `last` stands below the lines. */
  show(lines: readonly string[], last: string): void {
    if (!this.#isLive) return;
    this.clear();
    this.#stream.write(`${[...lines, last].join("\n")}\n`);
    this.#lines = lines.length + 1;
  }

  /** Removes the lines, so that others can be written in their place. */
  clear(): void {
    if (this.#lines === 0) return;
    // Where Ctrl-C is echoed, the cursor is no longer at the beginning of its line.
    cursorTo(this.#stream, 0);
    moveCursor(this.#stream, 0, -this.#lines);
    clearScreenDown(this.#stream);
    this.#lines = 0;
  }
}
