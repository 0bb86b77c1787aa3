import type { LogRecord } from "../../gen/actuator/v3/logs_pb.ts";

/** What happened to a tail, told among its records. */
export interface Notice {
  readonly icon: string;
  readonly isWarning: boolean;
  readonly text: string;
}

/** A line of a tail: a record or a notice. */
export interface Line {
  /** Grows from line to line. */
  readonly id: number;
  readonly record?: LogRecord;
  /** Whether the record was written only because of the raise. */
  readonly isAdded?: boolean;
  readonly notice?: Notice;
}

/** Lines that are drawn together. A chunk that is full never changes. */
export interface Chunk {
  readonly id: number;
  readonly lines: readonly Line[];
}

/** Small, so that few lines are drawn that are gone before they can be read. */
const CHUNK_LINES = 25;

/** The latest lines of a tail. A snapshot of it costs nothing, and stays as it is. */
export class Lines {
  readonly #maxChunks: number;
  #chunks: Chunk[] = [];
  #last: Line[] = [];
  #nextId = 1;
  #records = 0;
  #gone = 0;

  constructor(maxLines: number) {
    this.#maxChunks = Math.ceil(maxLines / CHUNK_LINES);
  }

  /** How many records have been added. */
  get records(): number {
    return this.#records;
  }

  /** How many records have given way to newer ones. */
  get gone(): number {
    return this.#gone;
  }

  add(line: Omit<Line, "id">): void {
    if (line.record !== undefined) this.#records++;
    this.#push({ ...line, id: this.#nextId++ });
  }

  /** The chunks, oldest first. The full ones are the same objects each time. */
  snapshot(): readonly Chunk[] {
    return this.#last.length === 0 ? this.#chunks : [...this.#chunks, chunkOf([...this.#last])];
  }

  /** Forgets the records that fail the test. */
  keep(test: (record: LogRecord) => boolean): void {
    const kept = this.snapshot().flatMap(({ lines }) =>
      lines.filter(({ record }) => record === undefined || test(record)),
    );
    this.#chunks = [];
    this.#last = [];
    for (const line of kept) this.#push(line);
  }

  #push(line: Line): void {
    if (this.#last.length === CHUNK_LINES) this.#seal();
    this.#last.push(line);
  }

  #seal(): void {
    const chunks = [...this.#chunks, chunkOf(this.#last)];
    for (const { lines } of chunks.splice(0, Math.max(0, chunks.length - this.#maxChunks))) {
      this.#gone += lines.filter(({ record }) => record !== undefined).length;
    }
    this.#chunks = chunks;
    this.#last = [];
  }
}

function chunkOf(lines: readonly Line[]): Chunk {
  return { id: lines[0]!.id, lines };
}
