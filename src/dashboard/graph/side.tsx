import type { ComponentChildren } from "preact";
import { useId, useMemo } from "preact/hooks";
import { type Link, Link_Type, type Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { keyParts } from "../../integration-graph/node-id.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { Icon } from "../components/icon.tsx";
import { count, counted } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { PatternIcon } from "../components/pattern-icon.tsx";
import { Spark } from "../components/spark.tsx";
import { Ago, clock, msOf } from "../components/time.tsx";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { graph } from "../state/graph.ts";
import { raise } from "../state/levels.ts";
import { loggers } from "../state/loggers.ts";
import { hrefOf } from "../state/route.ts";
import { whyNot } from "../state/server.ts";
import { type Card, failuresOf, isChannel, messagesOf } from "./model.ts";
import { similarLoggers } from "./similar-loggers.ts";
import { failing, hiddenIds, hrefWith, openWith, rateOf, selectedCard, selectedNode, show, symbolOf } from "./view.ts";
import { patternWords, perSecond, placeOf, took } from "./words.ts";

/** The selected node, or the collapsed group. */
export function Side() {
  const node = selectedNode.value;
  const card = selectedCard.value;
  if (node !== undefined) return <NodeSide key={node.key} node={node} />;
  return card === undefined ? null : <GroupSide key={card.id} card={card} />;
}

function Head({ name, icon, children }: { name: string; icon: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="side-title">
      {icon}
      <h2>
        <Outside text={name.slice(0, 1_000)} class="gr-title" />
      </h2>
      {children}
      <Button icon="ui-x" look="plain icon end-auto" label="Close" onClick={close} />
    </div>
  );
}

function NodeSide({ node }: { node: Node }) {
  const failed = failing.value.get(node.nodeId) ?? 0;
  const isBad = failed > 0;
  return (
    <aside class="pane side" aria-label={seen(node.name.slice(0, 200))}>
      <div class="side-head">
        <Head name={node.name} icon={<PatternIcon pattern={symbolOf(node)} look={isBad ? "is-bad" : "t2"} />}>
          {isBad && (
            <span class="chip bad">
              <Icon name="ui-error" />
              failing
            </span>
          )}
          {node.stale && <span class="chip warn">unreachable</span>}
        </Head>
        <p class="s12 t2 gr-p">
          <Sentence node={node} failed={failed} />
        </p>
        <Numbers node={node} failed={failed} />
        <div class="gr-tabs">
          <Button icon="ui-focus" onClick={() => show({ focus: "1", view: undefined })}>
            Focus
          </Button>
          <Button icon="ui-hide" onClick={() => hide([node])}>
            Hide
          </Button>
          <Button icon="ui-copy" onClick={() => void copyText(location.href, "Link copied")}>
            Copy link
          </Button>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <section class="scroll" tabIndex={0} aria-label={`Details of ${seen(node.name.slice(0, 100))}, scroll`}>
        <Failures node={node} />
        <Loggers name={node.name} />
        <Links node={node} />
        <Properties node={node} />
      </section>
    </aside>
  );
}

function close(): void {
  show({ focus: undefined }, "");
}

function hide(nodes: readonly Node[]): void {
  const ids = new Set([...hiddenIds.value, ...nodes.map(({ nodeId }) => nodeId)]);
  show({ hide: [...ids].join(","), focus: undefined }, "");
}

/** What it is, whose, and since when it fails. */
function Sentence({ node, failed }: { node: Node; failed: number }) {
  const { app } = keyParts(node.key);
  const words = patternWords(node);
  const known = activity.value.latest?.failingNodes.find(({ nodeId }) => nodeId === node.nodeId)?.sinceTime;
  return (
    <>
      {words.charAt(0).toUpperCase() + words.slice(1)}
      {app !== undefined && (
        <>
          {" of "}
          <Outside text={app} />
        </>
      )}
      {isChannel(node) && `, ${placeOf(node)}`}.{failed > 0 && ` ${count(failed)} failed in the last minute`}
      {failed > 0 && (known === undefined ? "." : `, failing since ${clock(msOf(known))}.`)}
    </>
  );
}

function Numbers({ node, failed }: { node: Node; failed: number }) {
  const { successes, failures } = node.sendTimers ?? {};
  const rate = rateOf(node);
  if (rate === undefined) {
    const isMeasured = node.sendTimers !== undefined || node.receiveCounters !== undefined;
    return <p class="s12 t3 gr-p">{isMeasured ? "No message has been seen." : "Its messages are not measured."}</p>;
  }
  const max = Math.max(successes?.max ?? 0, failures?.max ?? 0);
  const mean = successes?.count ? successes.mean : (failures?.mean ?? 0);
  return (
    <dl class="gr-nums">
      <div>
        <dt>Rate</dt>
        <dd>{perSecond(rate)}</dd>
      </div>
      {messagesOf(node) > 0 && (
        <div title={`In the last minute; ${count(failuresOf(node))} since the process began`}>
          <dt>Failed</dt>
          <dd class={failed > 0 ? "is-bad" : ""}>{count(failed)}</dd>
        </div>
      )}
      {max > 0 && (
        <div title="Since the process began">
          <dt>Mean</dt>
          <dd>{took(mean)}</dd>
        </div>
      )}
      {max > 0 && (
        <div title="Since the process began">
          <dt>Max</dt>
          <dd>{took(max)}</dd>
        </div>
      )}
    </dl>
  );
}

function Section({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="sec" aria-labelledby={id}>
      <div class="sec-head">
        <h3 id={id}>{title}</h3>
        {note !== undefined && <span class="t3 s12">{note}</span>}
      </div>
      {children}
    </section>
  );
}

/** Failures in each sample of the history, if the server has kept one. */
function Failures({ node }: { node: Node }) {
  const { latest } = activity.value;
  const known = latest?.failingNodes.find(({ nodeId }) => nodeId === node.nodeId);
  if (known === undefined || known.history.length < 2) return null;
  const seconds = Number(latest?.sampleInterval?.seconds ?? 0n) || 1;
  const from = now.value - known.history.length * seconds * 1_000;
  const total = known.history.reduce((sum, each) => sum + each, 0);
  return (
    <Section title="Failures" note={`in each ${seconds} s`}>
      <Spark values={known.history} tone="bad" label={`${count(total)} failed since ${clock(from)}`} />
      <div class="sec-axis">
        <span>{clock(from).slice(0, 5)}</span>
        <span>now</span>
      </div>
    </Section>
  );
}

/** The server does not know which loggers wrote while a node handled a message; these are proposals, and are called that. */
function Loggers({ name }: { name: string }) {
  const all = loggers.value.loggers;
  const names = useMemo(() => similarLoggers(name, all.keys()), [name, all.size]);
  if (names.length === 0) return null;
  return (
    <Section title="Loggers" note="with a similar name">
      <ul class="gr-log">
        {names.map((each) => {
          const override = all.get(each)?.override;
          return (
            <li key={each}>
              <a class="mono cut" href={hrefOf("loggers", each)}>
                <Outside text={each} />
              </a>
              {override !== undefined ? (
                <OverrideChip name={each} override={override} />
              ) : (
                <Button whyNot={whyNot("loggers:write")} onClick={() => void raise(each, Level.DEBUG)}>
                  DEBUG, 10 min
                </Button>
              )}
              <a class="btn" href={hrefOf("logs", "", { names: each })} aria-label={`Tail ${seen(each)}`}>
                Tail
              </a>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

const KINDS: { readonly [type: number]: string } = {
  [Link_Type.INPUT]: "input",
  [Link_Type.OUTPUT]: "output",
  [Link_Type.ERROR]: "error",
  [Link_Type.DISCARD]: "discard",
  [Link_Type.ROUTE]: "route",
};

/** What a link is, seen from a node: what leads in is its input. */
function kindOf({ type, to }: Link, { nodeId }: Node): string {
  if (type === Link_Type.INPUT) return to === nodeId ? "input" : "read by";
  if (type === Link_Type.OUTPUT) return to === nodeId ? "written by" : "output";
  return to === nodeId ? `${KINDS[type]} of` : (KINDS[type] ?? "");
}

const MAX_LINKS = 100;

function Links({ node }: { node: Node }) {
  const { links, nodes, rates } = graph.value;
  const own = [...links].filter(([, { from, to }]) => from === node.nodeId || to === node.nodeId);
  own.sort(([, a], [, b]) => Number(b.to === node.nodeId) - Number(a.to === node.nodeId) || a.type - b.type);
  if (own.length === 0) return null;
  return (
    <Section title="Links">
      <ul class="gr-io">
        {own.slice(0, MAX_LINKS).map(([key, link]) => {
          const other = nodes.get(link.to === node.nodeId ? link.from : link.to);
          if (other === undefined) return null;
          const rate = rates.ofLink(key, now.value);
          const isBad = link.type === Link_Type.ERROR && (rate ?? 0) > 0;
          return (
            <li key={key}>
              <PatternIcon pattern={symbolOf(other)} />
              <a class="cut" href={hrefWith({}, other.key)}>
                <Outside text={other.name} />
              </a>
              <span class="t3">{kindOf(link, node)}</span>
              <span class={`num${isBad ? " is-bad" : ""}`} title={`${counted(link.count, "message")} so far`}>
                {rate === undefined ? "…" : perSecond(rate)}
              </span>
            </li>
          );
        })}
      </ul>
      {own.length > MAX_LINKS && <p class="s12 t3">and {counted(own.length - MAX_LINKS, "more link")}</p>}
    </Section>
  );
}

const MAX_PROPERTIES = 50;
const MAX_VALUE = 500;

function Properties({ node }: { node: Node }) {
  const entries = Object.entries(node.properties ?? {});
  const handled = messagesOf(node);
  return (
    <Section title="Properties">
      <dl class="kv">
        <dt>Pattern</dt>
        <dd>{node.integrationPatternType}</dd>
        <dt>Component</dt>
        <dd>
          <Outside text={node.componentType} />
        </dd>
        {handled > 0 && (
          <>
            <dt>{node.receiveCounters && !node.sendTimers ? "Received" : "Handled"}</dt>
            <dd>
              {count(handled)}, {count(failuresOf(node))} failed
            </dd>
          </>
        )}
        {node.lastSeenTime !== undefined && (
          <>
            <dt>Last message</dt>
            <dd>
              <Ago time={node.lastSeenTime} />
            </dd>
          </>
        )}
        {node.instances.length > 0 && (
          <>
            <dt>Instances</dt>
            <dd>
              <Outside text={node.instances.slice(0, 50).join(", ")} />
            </dd>
          </>
        )}
        {node.handlers.length > 0 && (
          <>
            <dt>Handlers</dt>
            <dd>
              <Outside
                text={node.handlers
                  .map(({ name, type }) => `${name} (${type})`)
                  .join(", ")
                  .slice(0, 2_000)}
              />
            </dd>
          </>
        )}
        {entries.slice(0, MAX_PROPERTIES).map(([name, value]) => (
          <Property key={name} name={name} value={value} />
        ))}
        {entries.length > MAX_PROPERTIES && (
          <>
            <dt>…</dt>
            <dd>and {count(entries.length - MAX_PROPERTIES)} more</dd>
          </>
        )}
        <dt>Key</dt>
        <dd class="mono">
          <Outside text={node.key.slice(0, MAX_VALUE)} />
        </dd>
      </dl>
    </Section>
  );
}

function Property({ name, value }: { name: string; value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <>
      <dt>
        <Outside text={name.slice(0, 100)} class="gr-prop" />
      </dt>
      <dd>
        <Outside text={text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text} />
      </dd>
    </>
  );
}

const MAX_MEMBERS = 200;

function GroupSide({ card }: { card: Card }) {
  const { title, nodes } = card;
  const members = nodes.toSorted(
    (a, b) =>
      (failing.value.get(b.nodeId) ?? 0) - (failing.value.get(a.nodeId) ?? 0) || (rateOf(b) ?? 0) - (rateOf(a) ?? 0),
  );
  return (
    <aside class="pane side" aria-label={seen(title.slice(0, 200))}>
      <div class="side-head">
        <Head name={title} icon={<PatternIcon pattern="group" look="t2" />}>
          <span class="chip">{counted(nodes.length, "node")}</span>
        </Head>
        <div class="gr-tabs">
          <Button icon="ui-plus" onClick={() => show(openWith(title, true), "")}>
            Expand
          </Button>
          <Button icon="ui-hide" onClick={() => hide(nodes)}>
            Hide
          </Button>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <section class="scroll" tabIndex={0} aria-label="Nodes of the group, scroll">
        <Section title="Nodes">
          <ul class="gr-io">
            {members.slice(0, MAX_MEMBERS).map((node) => (
              <li key={node.nodeId}>
                <PatternIcon pattern={symbolOf(node)} />
                <a class="cut" href={hrefWith({}, node.key)}>
                  <Outside text={node.name} />
                </a>
                <span class="is-bad">{failing.value.has(node.nodeId) && "failing"}</span>
                <span class="num">{perSecond(rateOf(node) ?? 0)}</span>
              </li>
            ))}
          </ul>
          {members.length > MAX_MEMBERS && <p class="s12 t3">and {count(members.length - MAX_MEMBERS)} more</p>}
        </Section>
      </section>
    </aside>
  );
}
