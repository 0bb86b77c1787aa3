import type { HealthComponent } from "../../gen/actuator/v3/application_pb.ts";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { duration, exact, msOf } from "../components/time.tsx";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { checksOf } from "./summary.ts";

interface Look {
  readonly tone: "bad" | "ok" | "warn" | "unknown";
  readonly icon: string;
  readonly word: string;
}

const LOOKS: Readonly<Record<string, Look>> = {
  DOWN: { tone: "bad", icon: "ui-error", word: "down" },
  OUT_OF_SERVICE: { tone: "bad", icon: "ui-error", word: "out of service" },
  WARNING: { tone: "warn", icon: "ui-warning", word: "with a warning" },
  UNKNOWN: { tone: "unknown", icon: "ui-question", word: "unknown" },
  UP: { tone: "ok", icon: "ui-ok", word: "up" },
};
const ORDER = Object.keys(LOOKS);

/** A check that passes and says something warns. */
function lookOf({ status, detail }: HealthComponent): string {
  if (status === "UP" && detail !== "") return "WARNING";
  return LOOKS[status] === undefined ? "UNKNOWN" : status;
}

/** The health checks, those that fail first. */
export function Health() {
  const checks = checksOf(activity.value.latest?.health?.components ?? []);
  if (checks.length === 0) return null;
  const looks = new Map(checks.map((check) => [check, lookOf(check)]));
  const sorted = [...checks].sort((a, b) => ORDER.indexOf(looks.get(a)!) - ORDER.indexOf(looks.get(b)!));
  return (
    <section class="panel" aria-labelledby="ov-checks">
      <div class="panel-head">
        <h2 id="ov-checks">Health</h2>
        {ORDER.map((look) => {
          const { length } = checks.filter((check) => looks.get(check) === look);
          const { tone, icon, word } = LOOKS[look]!;
          if (length === 0) return null;
          return (
            <span key={look} class={`chip ${tone}`}>
              <Icon name={icon} />
              {count(length)} {word}
            </span>
          );
        })}
      </div>
      <ul class="ck">
        {sorted.map((check) => (
          <Row key={check.name} check={check} look={LOOKS[looks.get(check)!]!} />
        ))}
      </ul>
    </section>
  );
}

function Row({ check, look }: { check: HealthComponent; look: Look }) {
  const { name, status, detail, sinceTime, duration: took } = check;
  const since = sinceTime && msOf(sinceTime);
  const ms = took && Number(took.seconds) * 1_000 + Math.round(took.nanos / 1e6);
  return (
    <li class="ck-row">
      <span class={`ck-i is-${look.tone}`}>
        <Icon name={look.icon} />
      </span>
      <span class="ck-n">
        <strong>
          <Outside text={name === "drain" ? "this process" : name} />
        </strong>
        {detail !== "" && <Outside class="t3 s12 cut" text={detail} />}
      </span>
      <span class={`ck-s is-${look.tone}`}>{status.replaceAll("_", " ")}</span>
      <span class="ck-t t3 s12">
        {since !== undefined && (
          <time dateTime={new Date(since).toISOString()} title={`since ${exact(since)}`}>
            {duration(now.value - since)}
          </time>
        )}
      </span>
      <span class="ck-t t3 s12" title="how long the latest check took">
        {ms === undefined ? "–" : ms === 0 ? "< 1 ms" : `${count(ms)} ms`}
      </span>
    </li>
  );
}
