/** A health component as far as the summary needs it. */
interface Component {
  readonly name: string;
  readonly status: string;
}

/** The checks among the components: the state of the process itself is one only while it is not UP. */
export function checksOf<C extends Component>(components: readonly C[]): readonly C[] {
  return components.filter(({ name, status }) => name !== "drain" || status !== "UP");
}

const TITLES: Readonly<Record<string, string>> = { UP: "Up", DOWN: "Down", OUT_OF_SERVICE: "Out of service" };

/** The health in one line: `Down: 1 of 6 checks fails`. */
export function healthTitle(status: string, checks: readonly Component[]): string {
  const title = TITLES[status] ?? "Unknown";
  const { length } = checks.filter((check) => check.status === "DOWN");
  return length === 0 ? title : `${title}: ${length} of ${checks.length} checks fail${length === 1 ? "s" : ""}`;
}

/** How a number has changed since the oldest sample: `1,180 fewer than 12 min ago`. */
export function comparison(
  now: number,
  samples: readonly { readonly at: number; readonly value: number }[],
  present: number,
): string {
  const oldest = samples[0];
  if (oldest === undefined || present - oldest.at < 60_000) return "";
  const ago = `${uptime(present - oldest.at)} ago`;
  const difference = Math.round(now - oldest.value);
  if (difference === 0) return `as many as ${ago}`;
  return `${Math.abs(difference).toLocaleString("en-US")} ${difference > 0 ? "more" : "fewer"} than ${ago}`;
}

/** A duration in its two largest units from hours on: `6 d 4 h`, `12 min`. */
export function uptime(ms: number): string {
  const [minutes, hours] = [Math.floor(ms / 60_000), Math.floor(ms / 3_600_000)];
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.max(0, Math.floor(ms / 1_000))} s`;
}
