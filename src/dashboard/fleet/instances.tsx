import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Instance } from "../../gen/actuator/v3/fleet_pb.ts";
import { faultOf } from "../components/call-fault.ts";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { Ago } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { amend, route } from "../state/route.ts";
import { connection, link } from "../state/server.ts";
import { fleet, levels } from "./model.ts";
import { StateChip } from "./parts.tsx";
import { faultsOf, type Said, stateOf } from "./summary.ts";

/** More would make the page slow; the filter finds them. */
const MAX_ROWS = 200;
const TYPING_MS = 200;

/** The ids that match the filter, as the server reads it; undefined: all. */
const matching = signal<ReadonlySet<string> | undefined>(undefined);
const filterFault = signal("");

/** The instances that the engine knows. */
export function Instances() {
  const { latest, at, unavailable } = fleet.value;
  const faults = faultsOf(levels.value.rows);
  // While nothing new arrives, an instance that is behind stays so.
  const isCurrent = unavailable === undefined && connection.value.status === "live";
  const elapsed = isCurrent ? Math.max(0, now.value - at) : 0;
  const filter = route.value.params.get("on") ?? "";
  const known = latest?.instances.map(({ id }) => id).join() ?? "";
  useEffect(() => filterBy(filter), [filter, known]);
  const all = latest?.instances ?? [];
  const shown = all.filter(({ id }) => matching.value?.has(id) ?? true);
  return (
    <section class="panel" aria-labelledby="fl-instances">
      <div class="panel-head">
        <h2 id="fl-instances">Instances</h2>
        <span class="chip">
          {shown.length === all.length ? count(all.length) : `${count(shown.length)} of ${count(all.length)}`}
        </span>
        <Filter value={filter} />
      </div>
      {filterFault.value !== "" && (
        <p class="note" role="status">
          <Icon name="ui-warning" class="is-warn" />
          {filterFault}
        </p>
      )}
      {shown.length === 0 ? (
        <p class="ov-line">{all.length === 0 ? "No instance has reported." : "No instance matches."}</p>
      ) : (
        <table class="tbl fl-tbl">
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">State</th>
              <th scope="col">Application</th>
              <th scope="col">Labels</th>
              <th scope="col">Started</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MAX_ROWS).map((each) => (
              <Row key={each.id} instance={each} said={stateOf(each, faults.get(each.id), elapsed)} />
            ))}
          </tbody>
        </table>
      )}
      {shown.length > MAX_ROWS && <p class="ov-line">{count(shown.length - MAX_ROWS)} more: filter to see them.</p>}
    </section>
  );
}

function Row({ instance, said }: { instance: Instance; said: Said }) {
  const { id, application, version, labels, startTime, heartbeat, isSelf } = instance;
  return (
    <tr>
      <th scope="row">
        <Outside class="mono fl-any" text={id} />
        {isSelf && <span class="chip accent">answers this page</span>}
      </th>
      <td>
        <StateChip said={said} />
      </td>
      <td>
        <Outside class="fl-any" text={`${application} ${version}`.trim()} />
      </td>
      <td class="fl-labels">
        {Object.entries(labels).map(([key, value]) => (
          <span key={key} class="chip line">
            <Outside class="cut" text={`${key}=${value}`} />
          </span>
        ))}
      </td>
      <td class="t2 nowrap" data-label="started">
        {startTime && <Ago time={startTime} />}
      </td>
      <td class="t2 nowrap" data-label="last seen">
        {heartbeat && <Ago time={heartbeat} />}
      </td>
    </tr>
  );
}

function Filter({ value }: { value: string }) {
  return (
    <label class="field end fl-filter">
      <Icon name="ui-narrow" />
      <span class="vh">Filter by selector</span>
      <input
        id="fl-filter"
        class="mono"
        type="search"
        placeholder="zone=eu,canary"
        value={value}
        autocomplete="off"
        spellcheck={false}
        maxLength={1_000}
        onInput={({ currentTarget }) => amend(route.value.subject, { on: currentTarget.value })}
      />
    </label>
  );
}

/** Asks the server which instances match: it alone defines what a selector means. Returns what stops that. */
function filterBy(selector: string): (() => void) | undefined {
  if (selector.trim() === "") {
    matching.value = undefined;
    filterFault.value = "";
    return undefined;
  }
  let isOver = false;
  const timer = setTimeout(async () => {
    try {
      const { instances } = await link.call("fleet", "listInstances", { selector });
      if (isOver) return;
      matching.value = new Set(instances.map(({ id }) => id));
      filterFault.value = "";
    } catch (error) {
      if (isOver) return;
      matching.value = undefined;
      filterFault.value = faultOf(error).message;
    }
  }, TYPING_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
