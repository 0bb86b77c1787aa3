import { Component } from "preact";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { LogRecord } from "../../gen/actuator/v3/logs_pb.ts";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { Marked } from "../components/marked.tsx";
import { Outside } from "../components/outside.tsx";
import { exact } from "../components/time.tsx";
import { hrefOf } from "../state/route.ts";
import type { Chunk, Line, Notice } from "./lines.ts";
import { type Field, fieldsOf, isIdentifier, isUser, REDACTED, textOf, timeOf } from "./record.ts";
import { RecordView, Redacted } from "./record-view.tsx";

/** What is shown of a message, of a field and of the fields until the record is opened. */
const MAX_MESSAGE = 500;
const MAX_VALUE = 80;
const MAX_FIELDS = 12;

/** How lines are shown. The same object as long as nothing of it changes. */
export interface RowLook {
  readonly isCompact: boolean;
  /** A text to mark. */
  readonly sought: string;
  onCondition(field: string, value: string): void;
}

interface ChunkProps {
  readonly chunk: Chunk;
  readonly look: RowLook;
  /** The id of the open line, if it is one of these. */
  readonly open: number | undefined;
}

/** Lines that are drawn together; the browser skips them while they are out of sight. */
export class ChunkRows extends Component<ChunkProps> {
  override shouldComponentUpdate({ chunk, look, open }: ChunkProps): boolean {
    return chunk !== this.props.chunk || look !== this.props.look || open !== this.props.open;
  }

  override render({ chunk, look, open }: ChunkProps) {
    return (
      <div class="ln-chunk">
        {chunk.lines.map((line) => (
          <Row key={line.id} line={line} look={look} isOpen={line.id === open} />
        ))}
      </div>
    );
  }
}

interface RowProps {
  readonly line: Line;
  readonly look: RowLook;
  readonly isOpen: boolean;
}

class Row extends Component<RowProps> {
  override shouldComponentUpdate({ look, isOpen }: RowProps): boolean {
    return look !== this.props.look || isOpen !== this.props.isOpen;
  }

  override render({ line, look, isOpen }: RowProps) {
    const { id, record, notice, isAdded = false } = line;
    if (notice !== undefined) return <NoticeRow notice={notice} />;
    if (record === undefined) return null;
    return (
      <>
        <RecordRow id={id} record={record} isAdded={isAdded} look={look} isOpen={isOpen} />
        {isOpen && <RecordView record={record} isMessageCut={isCut(record.message)} onCondition={look.onCondition} />}
      </>
    );
  }
}

function NoticeRow({ notice: { icon, isWarning, text } }: { notice: Notice }) {
  return (
    <div class="ln-note">
      <Icon name={icon} class={isWarning ? "i12x is-warn" : "i12x"} />
      <Outside text={text} />
    </div>
  );
}

function RecordRow({
  id,
  record,
  isAdded,
  look,
  isOpen,
}: {
  id: number;
  record: LogRecord;
  isAdded: boolean;
  look: RowLook;
  isOpen: boolean;
}) {
  const { level, logger, message, error, cut } = record;
  const { isCompact, sought } = look;
  const time = timeOf(record);
  const fields = fieldsOf(record);
  const name = `ln-${id}`;
  return (
    <div class={`ln ${edge(level, isAdded)}${tone(level, isCompact)}${isOpen ? " open" : ""}`} id={name} data-line={id}>
      <button class="ln-at" type="button" tabIndex={-1} aria-expanded={isOpen} aria-describedby={name}>
        <time title={exact(time)}>{clockOf(time, !isCompact)}</time>
      </button>
      <LevelWord level={level} />
      {!isCompact && <Outside class="who" text={logger} />}
      <span class="msg">
        {isCompact && <Outside class="who" text={`${logger.slice(logger.lastIndexOf(".") + 1)} `} />}
        <Marked whole={message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message} text={sought} />
        {error !== undefined && message !== error.message && (
          <>
            {" "}
            <span class="fk">{error.type ? <Outside text={`${error.type}: `} /> : null}</span>
            <Outside class="fv" text={shortened(error.message)} />
          </>
        )}
        {fields.slice(0, MAX_FIELDS).map((field) => (
          <InlineField key={field[0]} field={field} look={look} />
        ))}
        {fields.length > MAX_FIELDS && <span class="fk"> and {fields.length - MAX_FIELDS} more</span>}
        {cut && (
          <>
            {" "}
            <span class="chip">truncated, over 64 KiB</span>
          </>
        )}
      </span>
    </div>
  );
}

function InlineField({ field, look }: { field: Field; look: RowLook }) {
  const [path, value] = field;
  const text = shortened(textOf(value));
  return (
    <>
      {" "}
      <Outside class="fk" text={`${shortened(path)}=`} />
      {value === REDACTED ? (
        <Redacted />
      ) : isUser(field) ? (
        <a class="fv" href={hrefOf("sessions", textOf(value))} tabIndex={-1}>
          <Outside text={text} />
        </a>
      ) : isIdentifier(field) ? (
        <button class="fv" type="button" tabIndex={-1} onClick={() => look.onCondition(path, textOf(value))}>
          <Outside text={text} />
        </button>
      ) : (
        <Outside class="fv" text={text} />
      )}
    </>
  );
}

function edge(level: Level, isAdded: boolean): string {
  if (level === Level.FATAL || level === Level.ERROR) return "error";
  if (level === Level.WARN) return "warn";
  return isAdded ? "added" : "plain";
}

/** Messages of little weight are grey; in a panel, those of INFO, too. */
function tone(level: Level, isCompact: boolean): string {
  return level > Level.INFO || (isCompact && level === Level.INFO) ? " l5" : "";
}

function isCut(message: string): boolean {
  return message.length > MAX_MESSAGE || message.includes("\n");
}

function shortened(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

/** `03:12:52.131` in the operator's time zone. */
function clockOf(ms: number, withMs: boolean): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMs ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}
