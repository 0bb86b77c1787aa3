/** One line of a text for Prometheus, by the grammar of its format. */
export type Line =
  | { readonly kind: "HELP" | "TYPE" | "UNIT"; readonly name: string; readonly text: string }
  | {
      readonly kind: "sample";
      readonly name: string;
      readonly labels: ReadonlyMap<string, string>;
      readonly value: number;
    }
  | { readonly kind: "EOF" };

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const NUMBER = "[+-]?(?:[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|Inf)|NaN";
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (${NUMBER})$`);
const COMMENT = new RegExp(`^# (HELP|TYPE|UNIT) (${NAME}) (.*)$`);

/** Reads a text, with no more indulgence than the grammar has. Throws for a line that is none. */
export function readLines(text: string): Line[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  return text.slice(0, -1).split("\n").map(readLine);
}

function readLine(line: string): Line {
  if (line === "# EOF") return { kind: "EOF" };
  const comment = COMMENT.exec(line);
  if (comment !== null) return { kind: comment[1] as "HELP", name: comment[2]!, text: comment[3]! };
  const sample = SAMPLE.exec(line);
  if (sample === null) throw new Error(`no line of the format: ${line}`);
  const labels = [...(sample[2] ?? "").matchAll(new RegExp(`(${NAME})="((?:[^"\\\\]|\\\\.)*)"`, "g"))];
  const names = labels.map(([, name]) => name);
  if (new Set(names).size !== names.length) throw new Error(`a label twice: ${line}`);
  const value = sample[3]!.replace("Inf", "Infinity");
  return {
    kind: "sample",
    name: sample[1]!,
    labels: new Map(labels.map(([, name, text]) => [name!, text!])),
    value: Number(value),
  };
}

/**
 * What the grammar of lines does not say: each metric is described before its samples and once, its samples stand together,
 * no series is there twice, buckets are cumulative, ascending and end with `+Inf`, which is the count.
 */
export function faultsOf(text: string, format: "text" | "openmetrics"): string[] {
  const lines = readLines(text);
  const faults: string[] = [];
  const fault = (condition: boolean, what: string) => condition && faults.push(what);
  const types = new Map<string, string>();
  const closed = new Set<string>();
  const series = new Set<string>();
  let current = "";
  let bucket: { key: string; le: number; value: number } | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.kind === "EOF") {
      fault(format === "text" || index !== lines.length - 1, "EOF in the wrong place");
      continue;
    }
    if (line.kind !== "sample") {
      fault(closed.has(line.name), `${line.name} is described twice, or after its samples`);
      if (line.name !== current) closed.add(current);
      current = line.name;
      if (line.kind === "TYPE") types.set(line.name, line.text);
      fault(
        line.kind === "UNIT" && (format === "text" || !line.name.endsWith(`_${line.text}`)),
        `unit of ${line.name}`,
      );
      continue;
    }
    const type = types.get(current);
    const suffixes =
      type === "histogram"
        ? ["_bucket", "_sum", "_count"]
        : [type === "counter" && format === "openmetrics" ? "_total" : ""];
    fault(!suffixes.some((suffix) => line.name === current + suffix), `${line.name} stands under ${current}`);
    const key = `${line.name}${JSON.stringify([...line.labels].sort())}`;
    fault(series.has(key), `${key} twice`);
    series.add(key);
    if (!line.name.endsWith("_bucket") || type !== "histogram") {
      fault(
        line.name.endsWith("_count") && type === "histogram" && bucket?.value !== line.value,
        `${key} is not its last bucket`,
      );
      continue;
    }
    const le = Number(line.labels.get("le")!.replace("Inf", "Infinity"));
    const rest = JSON.stringify([...line.labels].filter(([name]) => name !== "le"));
    const before = bucket?.key === rest ? bucket : undefined;
    fault(
      before !== undefined && !(before.le < le && before.value <= line.value),
      `${key} is not above the bucket before`,
    );
    fault(
      before === undefined && bucket !== undefined && bucket.le !== Number.POSITIVE_INFINITY,
      `no last bucket before ${key}`,
    );
    bucket = { key: rest, le, value: line.value };
  }
  fault(format === "openmetrics" && lines.at(-1)?.kind !== "EOF", "no EOF");
  return faults;
}
