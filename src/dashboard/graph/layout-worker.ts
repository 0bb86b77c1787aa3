import { type Box, type Line, layOut } from "../../integration-graph/export/layout.ts";
import { CARD } from "./model.ts";

/** What is to be laid out. */
export interface LayoutRequest {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

const scope = self as unknown as {
  onmessage: (event: MessageEvent<LayoutRequest>) => void;
  postMessage(layout: unknown): void;
};

scope.onmessage = ({ data: { boxes, lines } }) => {
  scope.postMessage(layOut(boxes, lines, { direction: "TB", boxes: 14, layers: CARD.height - 11 }));
};
