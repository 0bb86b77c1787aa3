import type { WatchFleetGraphResponse_Instances as FleetInstances } from "../../gen/actuator/v3/fleet_pb.ts";
import { Icon } from "../components/icon.tsx";
import { count, counted } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { graph } from "../state/graph.ts";
import { READABLE } from "./camera.ts";
import { camera, layoutState } from "./canvas.ts";
import { allNodes, focus, groups, hiddenIds, hrefWith, openGroups, openWith, picture, shownNodes } from "./view.ts";

/** What the drawing leaves out, and the way to see it. */
export function Said({ isTable = false }: { isTable?: boolean }) {
  const total = allNodes.value.length;
  const collapsed = isTable ? [] : picture.value.cards.filter(({ isGroup }) => isGroup);
  const { dropped = 0n, collapsed: shared = 0n } = graph.value.contentDescriptor ?? {};
  const [first] = collapsed;
  const inGroups = collapsed.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const near = focus.value;
  const hidden = allNodes.value.filter(({ nodeId }) => hiddenIds.value.has(nodeId)).length;
  const isPart = near !== undefined || hidden > 0 || collapsed.length > 0;
  const server = [
    dropped > 0n && `${counted(dropped, "time")} the service left out a node or link, because of its limits.`,
    shared > 0n && `${counted(shared, "name")} with ids share nodes, shown with *.`,
  ].filter(Boolean);
  const { instances, fault } = graph.value;
  const state = isTable ? "best" : layoutState.value;
  const isFar = !isTable && camera.value.scale < READABLE;
  if (!isPart && server.length === 0 && instances === undefined && state === "best" && !isFar) return null;
  return (
    <div class="gr-said">
      <Icon name="ui-info" class="t3" />
      <span>
        {near !== undefined && (
          <>
            Near <Outside text={near.node.name} class="cut gr-near" />: {count(shownNodes.value.length)} of{" "}
            {counted(total, "node")}.{" "}
          </>
        )}
        {near === undefined && hidden > 0 && collapsed.length === 0 && (
          <>
            {count(shownNodes.value.length)} of {counted(total, "node")} shown, {count(hidden)} hidden.{" "}
          </>
        )}
        {collapsed.length > 0 && (
          <>
            {near === undefined && `${count(total - hidden - inGroups)} of ${counted(total, "node")} shown; `}
            {collapsed.length === 1 ? (
              <>
                <Outside text={first!.title} class="cut gr-near" /> is collapsed ({counted(inGroups, "node")}).{" "}
              </>
            ) : (
              `${count(inGroups)} are collapsed into ${counted(collapsed.length, "group")}. `
            )}
          </>
        )}
        {server.join(" ")}
        {instances !== undefined && <Instances {...instances} />}
        {fault !== undefined && ` It is no longer updated: ${seen(fault.message)}`}
        {state === "working" && " Arranging …"}
        {state === "gave up" &&
          " Too large to arrange with care: lines may cross nodes. Collapse or focus for a better picture."}
        {isFar && " Zoom in to read names."}
      </span>
      {isPart && (
        <a href={hrefWith({ focus: "0", hide: "", by: collapsed.length > 0 ? "none" : undefined, open: "" })}>
          Show all
        </a>
      )}
    </div>
  );
}

/** Which instances of the fleet the graph has. */
export function Instances({ count: found, unread }: Pick<FleetInstances, "count" | "unread">) {
  const [first] = unread;
  return (
    <>
      {" "}
      The graph of {counted(found, "instance")}.
      {first !== undefined && (
        <>
          {" "}
          <Outside text={first.instance} class="cut gr-near" />
          {unread.length > 1 && ` and ${count(unread.length - 1)} more`} did not answer: <Outside text={first.reason} />
        </>
      )}
    </>
  );
}

/** The groups that a menu offers: `groups` and whether each is collapsed. */
export function groupChoices() {
  return [...groups.value].map(([title, nodes]) => {
    const isOpen = openGroups.value.has(title);
    return { title, size: nodes.length, isCollapsed: !isOpen, change: openWith(title, !isOpen) };
  });
}
