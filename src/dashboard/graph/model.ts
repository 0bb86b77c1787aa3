import { type Link, Link_Type, type Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { Point } from "../../integration-graph/export/layout.ts";

/** What is drawn for a node, or for a group of them that is collapsed. */
export interface Card {
  /** The id of the node, or `group:` and the title of the group. */
  readonly id: string;
  /** The name of the node, or the title of the group. */
  readonly title: string;
  readonly isGroup: boolean;
  /** One node, or the members of the group. */
  readonly nodes: readonly Node[];
}

/** How links look: what an endpoint reads and writes looks the same. */
export type Way = "message" | "route" | "discard" | "error";

export const WAYS: readonly Way[] = ["message", "route", "discard", "error"];

/** What is drawn for a link, or for all links of one look between two cards. */
export interface Path {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly way: Way;
  /** The keys of the links. */
  readonly links: readonly string[];
}

/** What is drawn. */
export interface Picture {
  readonly cards: readonly Card[];
  readonly paths: readonly Path[];
}

/** Where a picture is drawn, in pixels; places of cards and labels are their centres. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly cards: ReadonlyMap<string, Point>;
  /** By the id of the path: its bends between the two cards, and the place of its label. */
  readonly paths: ReadonlyMap<string, { readonly bends: readonly Point[]; readonly label: Point }>;
}

export const CARD = { width: 152, height: 44 } as const;
export const LABEL_HEIGHT = 15;
/** Room for the widest label of a kind, so that a rate that changes moves nothing. */
const LABEL_WIDTHS: Readonly<Record<Way, number>> = { message: 48, route: 78, discard: 88, error: 76 };

/** The room that is kept for the label of a path. */
export function labelRoom({ way }: Pick<Path, "way">): { readonly width: number; readonly height: number } {
  return { width: LABEL_WIDTHS[way], height: LABEL_HEIGHT };
}

export function wayOf({ type }: Pick<Link, "type">): Way {
  if (type === Link_Type.ROUTE) return "route";
  if (type === Link_Type.DISCARD) return "discard";
  return type === Link_Type.ERROR ? "error" : "message";
}

/** Whether a pattern is one of a channel, which is drawn as a pill. */
export function isChannel({ integrationPatternType }: Pick<Node, "integrationPatternType">): boolean {
  return integrationPatternType.endsWith("_channel");
}

/** How many messages failed at a node since its process began. */
export function failuresOf({ sendTimers, receiveCounters }: Node): number {
  return Number(sendTimers?.failures?.count ?? 0n) + Number(receiveCounters?.failures ?? 0n);
}

/** How many messages a node took since its process began. */
export function messagesOf({ sendTimers, receiveCounters }: Node): number {
  const sent = Number(sendTimers?.successes?.count ?? 0n) + Number(sendTimers?.failures?.count ?? 0n);
  return sent + Number(receiveCounters?.successes ?? 0n) + Number(receiveCounters?.failures ?? 0n);
}
