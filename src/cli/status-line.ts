import { clearLine, cursorTo } from "node:readline";

/** A line at the foot of a terminal that is written anew each second; nowhere else is there one. */
export class StatusLine {
  readonly #stream = process.stderr;
  #timer: NodeJS.Timeout | undefined;

  /** `text` answers what the line says now. */
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

  /** Takes the line away, so that others can be written in its place. */
  close(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }
}
