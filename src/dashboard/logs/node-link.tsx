import { useEffect } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { Outside } from "../components/outside.tsx";
import { graph, watchGraph } from "../state/graph.ts";
import { hrefOf } from "../state/route.ts";
import { cut } from "./record.ts";

export interface NodeLinkProps {
  readonly id: number;
  readonly name: string;
}

/** Leads from a record to the component that wrote it. The graph knows a node by its key, a record by its id. */
export function NodeLink({ id, name }: NodeLinkProps) {
  useEffect(watchGraph, []);
  const key = graph.value.nodes.get(id)?.key;
  return (
    <a class="btn" href={key === undefined ? hrefOf("graph", "", { find: name }) : hrefOf("graph", key)}>
      <Icon name="ui-graph" />
      <span>
        <Outside text={cut(name)} /> in the graph
      </span>
    </a>
  );
}
