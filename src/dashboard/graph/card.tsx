import { Component } from "preact";
import { patternSymbol } from "../components/pattern-icon.tsx";
import { CARD } from "./model.ts";
import { fitting, textWidth } from "./text-width.ts";

export interface CardProps {
  readonly id: string;
  readonly href: string;
  readonly x: number;
  readonly y: number;
  /** What the screen reader says, and the pointer shows. */
  readonly label: string;
  /** Already without unseen characters. */
  readonly title: string;
  readonly sub: string;
  /** The pattern whose symbol it has. */
  readonly symbol: string;
  readonly shape: "pill" | "box" | "stack";
  /** Messages that failed in the last minute. */
  readonly failed: number;
  /** No message was seen, or its source cannot be reached. */
  readonly isIdle: boolean;
  readonly isSelected: boolean;
  /** Undefined while nothing is looked for. */
  readonly isFound: boolean | undefined;
  readonly isTabStop: boolean;
  onOpen(event: MouseEvent): void;
  onFocus(id: string): void;
}

const { width, height } = CARD;
/** The pixels that the texts may take. */
const ROOM = width - 44 - 9;

/** A node of the drawing. It is a link to the node, so that it opens as links do. */
export class CardShape extends Component<CardProps> {
  override shouldComponentUpdate(next: CardProps): boolean {
    return (Object.keys(next) as (keyof CardProps)[]).some(
      (key) => !key.startsWith("on") && next[key] !== this.props[key],
    );
  }

  render() {
    const { id, href, x, y, label, title, sub, symbol, shape, failed, isIdle, isSelected, isFound, isTabStop } =
      this.props;
    const look = ["n"];
    if (shape === "pill") look.push("ch");
    if (shape === "stack") look.push("group");
    if (failed > 0) look.push("bad");
    else if (isIdle) look.push("idle");
    if (isFound !== undefined) look.push(isFound ? "found" : "not-found");
    const round = shape === "pill" ? height / 2 : 6;
    return (
      <g transform={`translate(${x - width / 2} ${y - height / 2})`}>
        <a
          class={look.join(" ")}
          href={href}
          aria-current={isSelected ? "true" : undefined}
          tabIndex={isTabStop ? 0 : -1}
          data-card={id}
          onClick={this.props.onOpen}
          onFocus={() => this.props.onFocus(id)}
        >
          <title>{label}</title>
          {shape === "stack" && <rect class="n-stack" x={6} y={-6} width={width - 12} height={height} rx={6} />}
          {shape === "stack" && <rect class="n-stack" x={3} y={-3} width={width - 6} height={height} rx={6} />}
          <rect class="n-box" width={width} height={height} rx={round} />
          {isSelected && (
            <rect class="n-sel" x={-3.5} y={-3.5} width={width + 7} height={height + 7} rx={round + 3.5} />
          )}
          {shape === "pill" ? (
            <circle class="n-tile" cx={22} cy={22} r={16} />
          ) : (
            <rect class="n-tile" x={6} y={6} width={32} height={32} rx={4} />
          )}
          <svg class="i n-ico" x={12} y={12} width={20} height={20} aria-hidden="true">
            <use href={`#${patternSymbol(symbol)}`} />
          </svg>
          <text class="n-name" x={44} y={18.5}>
            {fitting(title, 12, ROOM, 600)}
          </text>
          <text class="n-sub" x={44} y={33}>
            {fitting(sub, 11, ROOM)}
          </text>
          {failed > 0 && <Badge text={`${failed > 9_999 ? "9,999+" : failed} failed`} />}
        </a>
      </g>
    );
  }
}

function Badge({ text }: { text: string }) {
  const wide = Math.ceil(textWidth(text, 11, 600)) + 14;
  return (
    <g class="n-badge" transform={`translate(${width - 6 - wide} -13)`}>
      <rect width={wide} height={18} rx={3} />
      <text x={wide / 2} y={12.5}>
        {text}
      </text>
    </g>
  );
}
