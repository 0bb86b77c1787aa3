import { readFileSync } from "node:fs";

/** One thing that the original was asked, and its answer. `HOST` stands for host and port. */
export interface RecordedExchange {
  readonly id: string;
  readonly why: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
  };
}

/** In the order in which the original was asked: later answers depend on earlier requests. */
export const RECORDED: readonly RecordedExchange[] = readFileSync(
  new URL("fixtures/spring-recorded.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** The answer that was recorded under this id. */
export function recordedText(id: string): string {
  return RECORDED.find((recorded) => recorded.id === id)!.response.text;
}
