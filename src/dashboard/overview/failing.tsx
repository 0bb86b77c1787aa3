import type { FailingNode } from "../../gen/actuator/v3/application_pb.ts";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { PatternIcon } from "../components/pattern-icon.tsx";
import { Spark } from "../components/spark.tsx";
import { clock, duration, exact, msOf } from "../components/time.tsx";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { hrefOf } from "../state/route.ts";

/** More are in the graph. */
const MAX_ROWS = 10;

/** The nodes of the graph that failed in the last minute, those with the most failures first. */
export function FailingNodes() {
  const { latest } = activity.value;
  const total = latest?.now?.failingNodes;
  if (latest === undefined || total === undefined) return null;
  const rows = latest.failingNodes.slice(0, MAX_ROWS);
  return (
    <section class="panel" aria-labelledby="ov-failing">
      <div class="panel-head">
        <h2 id="ov-failing">Failing nodes</h2>
        <a class="btn plain end" href={hrefOf("graph")}>
          Open the graph
        </a>
      </div>
      {rows.length === 0 ? (
        <p class="ov-line">
          <Icon name="ui-ok" class="is-ok" />
          No node failed in the last minute.
        </p>
      ) : (
        <ul class="ck">
          {rows.map((node) => (
            <Row key={node.key} node={node} />
          ))}
        </ul>
      )}
      {total > rows.length && (
        <p class="ov-more">
          <a href={hrefOf("graph", "", { view: "table" })}>{count(total - rows.length)} more</a>
        </p>
      )}
    </section>
  );
}

function Row({ node }: { node: FailingNode }) {
  const { key, name, integrationPatternType, failures, messages, sinceTime, history } = node;
  const since = sinceTime && msOf(sinceTime);
  return (
    <li class="ck-row wide">
      <span class="ck-i t2">
        <PatternIcon pattern={integrationPatternType} />
      </span>
      <span class="ck-n">
        <a class="strong ov-node" href={hrefOf("graph", key)}>
          <Outside text={name} />
        </a>
        <span class="t3 s12 cut">
          {integrationPatternType.replaceAll("_", " ")}
          {since !== undefined && (
            <>
              {" · fails since "}
              <time dateTime={new Date(since).toISOString()} title={exact(since)}>
                {clock(since)}
              </time>
              , {duration(now.value - since)} ago
            </>
          )}
        </span>
      </span>
      <span class="is-bad nowrap" title="in the last minute">
        {count(failures)} failed
      </span>
      <span class="ck-t t3 s12" title="messages in the last minute">
        of {count(messages)}
      </span>
      <span class="ck-t">
        <Spark values={history} label={`Failures of ${name} in the last hour`} tone="bad" />
      </span>
    </li>
  );
}
