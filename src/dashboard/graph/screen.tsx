import "../styles/panes.css";
import "../styles/graph.css";
import "./screen.css";
import { useEffect } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Forbidden } from "../components/forbidden.tsx";
import { count, counted } from "../components/number.ts";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { type KeyTable, useKeys } from "../shell/keys.ts";
import { graph, isOfFleet, retryGraph, watchGraph } from "../state/graph.ts";
import { route } from "../state/route.ts";
import { serves } from "../state/server.ts";
import { fit, zoomIn, zoomOut } from "./canvas.ts";
import { Drawing } from "./drawing.tsx";
import { Legend } from "./legend.tsx";
import { Minimap } from "./minimap.tsx";
import { Instances, Said } from "./said.tsx";
import { Side } from "./side.tsx";
import { Table } from "./table.tsx";
import { focusFind, Toolbar, toggleFocus, toggleTable } from "./toolbar.tsx";
import { allNodes, failing, isNarrow, isTable, selectedCard, show, shownNodes } from "./view.ts";

/** Moves to the field that finds a node. */
export function focusFilter(): void {
  focusFind();
}

/** Beside the title: how many nodes there are, and how many fail. */
export function Heading() {
  if (!graph.value.isLoaded) return null;
  const bad = failing.value.size;
  return (
    <span class="t3 s12 nowrap">
      {counted(allNodes.value.length, "node")}
      {bad > 0 && ` · ${count(bad)} failing`}
    </span>
  );
}

/** The integration graph, as a drawing or a table. */
export function Content() {
  useEffect(watchGraph, []);
  useKeys(KEYS);
  const { fault, isLoaded } = graph.value;
  if (!serves("IntegrationGraphService") && !isOfFleet.value) return <NotServed />;
  if (fault?.code === "PERMISSION_DENIED") {
    return <Forbidden title="You may not see the graph" to="see it" permission="graph:read" />;
  }
  if (fault !== undefined && !isLoaded) return <FaultState fault={fault} what="the graph" onRetry={retryGraph} />;
  if (!isLoaded) return <Skeleton what="the graph" />;
  if (allNodes.value.length === 0) return <NoFlow />;
  const hasSide = selectedCard.value !== undefined;
  return (
    <div class={`split gr${hasSide ? "" : " no-side"}`}>
      <section class="pane" aria-label="Graph">
        <Toolbar />
        {/* Over a small drawing it would cover nodes. */}
        {(isTable.value || isNarrow.value) && <Said isTable={isTable.value} />}
        {isTable.value ? (
          <Table />
        ) : (
          <Drawing>
            {!isNarrow.value && <Said />}
            <div class="gr-zoom" role="group" aria-label="Zoom">
              <Button icon="ui-plus" look="plain icon" label="Zoom in" title="Zoom in (+)" onClick={zoomIn} />
              <Button icon="ui-minus" look="plain icon" label="Zoom out" title="Zoom out (−)" onClick={zoomOut} />
              <Button icon="ui-fit" look="plain icon" label="Fit to window" title="Fit (0)" onClick={fit} />
            </div>
            <Legend />
            <Minimap />
            {shownNodes.value.length === 0 && (
              <State icon="ui-hide" title="Every node is hidden">
                <Button onClick={() => show({ hide: "", focus: undefined })}>Show all</Button>
              </State>
            )}
          </Drawing>
        )}
      </section>
      {hasSide && <Side />}
    </div>
  );
}

function NoFlow() {
  const { instances } = graph.value;
  if (instances !== undefined) {
    return (
      <State icon="ui-graph" title="No message flow is known">
        <p>
          <Instances {...instances} />
        </p>
        {serves("IntegrationGraphService") && (
          <Button onClick={() => show({ of: undefined })}>Show this instance alone</Button>
        )}
      </State>
    );
  }
  return (
    <State icon="ui-graph" title="No message flow is known">
      <p>The application declares none and no adapter is attached. One line shows the flows over RabbitMQ:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <pre class="cmd" tabIndex={0}>
        flow.attach(amqplibSource(connection))
      </pre>
    </State>
  );
}

function NotServed() {
  return (
    <State icon="ui-graph" title="The application serves no integration graph">
      <p>Give the actuator one to see where messages flow, at which rate, and what fails:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <pre class="cmd" tabIndex={0}>
        {'createActuator({ integrationGraph: integrationGraph({ app: "shop" }) })'}
      </pre>
    </State>
  );
}

const KEYS: KeyTable = {
  f: toggleFocus,
  t: toggleTable,
  "+": zoomIn,
  "=": zoomIn,
  "-": zoomOut,
  "0": fit,
  Escape: () => route.value.subject !== "" && show({ focus: undefined }, ""),
};
