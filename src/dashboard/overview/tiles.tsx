import type { ComponentChildren } from "preact";
import type { ActivitySample } from "../../gen/actuator/v3/application_pb.ts";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { Spark } from "../components/spark.tsx";
import { countdown, msOf } from "../components/time.tsx";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { changed, loggers } from "../state/loggers.ts";
import { hrefOf, type Page } from "../state/route.ts";
import { comparison } from "./summary.ts";

/** The numbers of the moment, each with its last hour. What the application does not serve, or the caller may not see, has no tile. */
export function Tiles() {
  const tiles = [messages(), failing(), sessions(), ofLoggers()].filter((tile) => tile !== undefined);
  if (tiles.length === 0) return null;
  return (
    <section class={`tiles n${tiles.length}`} aria-label="Now">
      {tiles}
    </section>
  );
}

interface TileProps {
  readonly page: Page;
  readonly title: string;
  readonly value: number;
  readonly unit: string;
  readonly note: ComponentChildren;
  readonly curve?: readonly number[];
  readonly isBad?: boolean;
}

function Tile({ page, title, value, unit, note, curve, isBad }: TileProps) {
  return (
    <a class={`tile ${isBad ? "bad" : ""}`} href={hrefOf(page)}>
      <span class="tile-l">{title}</span>
      <span class="tile-n">
        {count(value)}
        <small>{unit}</small>
      </span>
      <span class="tile-s">{note}</span>
      {curve !== undefined && <Spark values={curve} label={`${title} in the last hour`} tone={isBad ? "bad" : ""} />}
    </a>
  );
}

/** The values of the last hour, the present one last. */
function courseOf(read: (sample: ActivitySample) => number | bigint | undefined) {
  const { latest, history } = activity.value;
  const samples = [...history, ...(latest?.now === undefined ? [] : [latest.now])];
  return samples.flatMap((sample) => {
    const value = read(sample);
    return value === undefined || sample.time === undefined ? [] : [{ at: msOf(sample.time), value: Number(value) }];
  });
}

function messages() {
  const { now: sample } = activity.value.latest ?? {};
  const value = sample?.messagesPerMinute;
  if (value === undefined) return undefined;
  const course = courseOf(({ messagesPerMinute }) => messagesPerMinute);
  return (
    <Tile
      page="graph"
      title="Messages"
      value={value}
      unit="per minute"
      note={comparison(value, course, msOf(sample!.time!))}
      curve={course.map((each) => each.value)}
    />
  );
}

function failing() {
  const { now: sample, nodes = 0, failingNodes = [] } = activity.value.latest ?? {};
  const value = sample?.failingNodes;
  if (value === undefined) return undefined;
  const [worst] = failingNodes;
  return (
    <Tile
      page="graph"
      title="Failing nodes"
      value={value}
      unit={`of ${count(nodes)}`}
      isBad={value > 0}
      note={
        worst === undefined ? (
          "no failure in the last minute"
        ) : (
          <>
            <Outside text={worst.name} />, {count(worst.failures)} failed in the last minute
          </>
        )
      }
      curve={courseOf(({ failingNodes: nodes }) => nodes).map((each) => each.value)}
    />
  );
}

function sessions() {
  const { now: sample } = activity.value.latest ?? {};
  if (sample?.sessions === undefined) return undefined;
  const value = Number(sample.sessions);
  const course = courseOf(({ sessions: number }) => number);
  return (
    <Tile
      page="sessions"
      title="Sessions"
      value={value}
      unit="active"
      note={comparison(value, course, msOf(sample.time!))}
      curve={course.map((each) => each.value)}
    />
  );
}

function ofLoggers() {
  const { isLoaded, loggers: all } = loggers.value;
  if (!isLoaded) return undefined;
  const { length } = changed.value;
  const next = changed.value[0]?.override?.expireTime;
  return (
    <Tile
      page="loggers"
      title="Loggers"
      value={all.size}
      unit={length === 0 ? "none changed" : `${count(length)} changed`}
      note={next && `the next expires in ${countdown(msOf(next) - now.value)}`}
    />
  );
}
