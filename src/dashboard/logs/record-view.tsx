import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { LogRecord } from "../../gen/actuator/v3/logs_pb.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/clipboard.ts";
import { Icon } from "../components/icon.tsx";
import { Outside, seen } from "../components/outside.tsx";
import { exact } from "../components/time.tsx";
import { hrefOf } from "../state/route.ts";
import { may } from "../state/server.ts";
import type { NodeLinkProps } from "./node-link.tsx";
import { cut, type Field, fieldsOf, isIdentifier, isUser, jsonOf, REDACTED, textOf, timeOf } from "./record.ts";

/** The server looks for no longer text. */
const MAX_CONDITION = 1_000;

/** A record opened in place: its fields, its error, and the ways on. */
export function RecordView({
  record,
  isMessageCut,
  onCondition,
}: {
  record: LogRecord;
  isMessageCut: boolean;
  onCondition: (field: string, value: string) => void;
}) {
  const { message, error, traceId, spanId, logger, node, kind } = record;
  const fields = fieldsOf(record);
  const user = fields.find(isUser);
  const only = fields.find(isIdentifier);
  const ids: readonly Field[] = [
    ["trace", traceId],
    ["span", spanId],
  ];
  return (
    <div class="rec">
      {isMessageCut && (
        <div class="rec-all">
          <h2>Message</h2>
          <Text text={message} label="Message" />
        </div>
      )}
      <div>
        <h2>Fields</h2>
        <dl class="kv">
          {fields.map((field) => (
            <FieldRow key={field[0]} field={field} onCondition={onCondition} />
          ))}
          {ids
            .filter(([path, id]) => id !== "" && !fields.some(([field, value]) => value === id || field === path))
            .map((field) => (
              <FieldRow key={field[0]} field={field} />
            ))}
          <dt>written</dt>
          <dd>
            {exact(timeOf(record))}, <Outside text={kind} />
          </dd>
        </dl>
        {record.cut && <p class="t3">It was longer than 64 KiB: the rest was not sent.</p>}
      </div>
      {error !== undefined && (
        <div>
          <h2>Error</h2>
          <Text text={stackOf(error)} label="Stack" isError />
        </div>
      )}
      <div class="rec-acts">
        <Button icon="ui-copy" onClick={() => void copyText(jsonOf(record), "Record copied as JSON")}>
          Copy as JSON
        </Button>
        {only !== undefined && (
          <Button icon="ui-narrow" onClick={() => onCondition(only[0], textOf(only[1]))}>
            <span>
              Only <Outside text={cut(`${only[0]}=${textOf(only[1])}`)} />
            </span>
          </Button>
        )}
        {user !== undefined && (
          <a class="btn" href={hrefOf("sessions", textOf(user[1]))}>
            <Icon name="ui-sessions" />
            <span>
              Sessions of <Outside text={cut(textOf(user[1]))} />
            </span>
          </a>
        )}
        {node !== "" && may("graph:read") && <NodeLink id={record.nodeId} name={node} />}
        <a class="btn" href={hrefOf("loggers", logger)}>
          <Icon name="ui-loggers" />
          Its logger
        </a>
      </div>
    </div>
  );
}

/** Its state is loaded with the first record that a component of the graph wrote. */
function NodeLink(props: NodeLinkProps) {
  const [Loaded, setLoaded] = useState<ComponentType<NodeLinkProps>>();
  useEffect(() => void import("./node-link.tsx").then((module) => setLoaded(() => module.NodeLink)), []);
  return Loaded === undefined ? null : <Loaded {...props} />;
}

function FieldRow({ field, onCondition }: { field: Field; onCondition?: (field: string, value: string) => void }) {
  const [path, value] = field;
  const text = textOf(value);
  return (
    <>
      <dt>
        <Outside text={path} />
      </dt>
      <dd>
        {value === REDACTED ? (
          <Redacted />
        ) : isUser(field) ? (
          <a href={hrefOf("sessions", text)}>
            <Outside text={text} />
          </a>
        ) : (
          <Outside text={text} />
        )}
        {onCondition !== undefined && value !== REDACTED && text.length <= MAX_CONDITION && (
          <button
            class="rec-only"
            type="button"
            aria-label={`Only ${seen(path)}=${seen(cut(text))}`}
            title="Only records with this value"
            onClick={() => onCondition(path, text)}
          >
            <Icon name="ui-narrow" size={12} />
          </button>
        )}
      </dd>
    </>
  );
}

export function Redacted() {
  return (
    <span class="gone" title="Redacted by the service">
      redacted
    </span>
  );
}

/** A text of several lines; the first one of an error stands out. */
function Text({ text, label, isError = false }: { text: string; label: string; isError?: boolean }) {
  const [first = "", ...more] = text.split(/\r?\n/).map(lineOf);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
    <pre tabIndex={0} role="region" aria-label={label}>
      <bdi>{isError ? <b>{first}</b> : first}</bdi>
      {more.length > 0 && `\n`}
      <bdi>{more.join("\n")}</bdi>
    </pre>
  );
}

/** A line with visible control characters; a tab stays one. */
function lineOf(line: string): string {
  return line.split("\t").map(seen).join("\t");
}

function stackOf({ type, message, stack }: NonNullable<LogRecord["error"]>): string {
  const title = `${type || "Error"}: ${message}`;
  if (stack === "") return title;
  return stack.includes(message) ? stack : `${title}\n${stack}`;
}
