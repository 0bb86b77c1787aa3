import { useMemo, useRef } from "preact/hooks";
import { camera, canvas, layout } from "./canvas.ts";
import { CARD } from "./model.ts";
import { failing, picture } from "./view.ts";

/** Around the drawing. */
const EDGE = 20;

/** The whole drawing in small, with the part that is seen. For the eye and the pointer only: keys move from card to card. */
export function Minimap() {
  const whole = useMemo(() => <Whole />, []);
  const svg = useRef<SVGSVGElement>(null);
  const places = layout.value;
  const { x, y, scale } = camera.value;
  const { width, height } = canvas.value;
  if (places === undefined || width === 0) return null;
  const isAllSeen =
    x <= 0 && y <= 0 && x + width / scale >= places.width && y + height / scale >= places.height && scale <= 1.5;
  if (isAllSeen) return null;
  const [left, top] = [Math.max(-EDGE, x), Math.max(-EDGE, y)];
  const seen = {
    x: left,
    y: top,
    width: Math.max(0, Math.min(places.width + EDGE, x + width / scale) - left),
    height: Math.max(0, Math.min(places.height + EDGE, y + height / scale) - top),
  };
  const move = (event: PointerEvent) => {
    if ((event.buttons & 1) === 0) return;
    const box = svg.current!.getScreenCTM()!.inverse();
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(box);
    camera.value = { scale, x: place.x - width / scale / 2, y: place.y - height / scale / 2 };
  };
  return (
    <div class="gr-mini" aria-hidden="true" onPointerDown={move} onPointerMove={move}>
      <svg
        ref={svg}
        viewBox={`${-EDGE} ${-EDGE} ${places.width + 2 * EDGE} ${places.height + 2 * EDGE}`}
        preserveAspectRatio="xMidYMid meet"
      >
        {whole}
        <rect class="mm-v" {...seen} rx={12} />
      </svg>
    </div>
  );
}

/** Apart, so that it is not drawn anew while the camera moves. */
function Whole() {
  const places = layout.value;
  const { cards, paths } = picture.value;
  if (places === undefined) return null;
  return (
    <>
      <path
        class="mm-l"
        stroke-width={4}
        d={paths
          .map(({ from, to }) => {
            const [a, b] = [places.cards.get(from), places.cards.get(to)];
            return a === undefined || b === undefined ? "" : `M${a.x} ${a.y}L${b.x} ${b.y}`;
          })
          .join("")}
      />
      {cards.map(({ id, nodes, isGroup }) => {
        const place = places.cards.get(id);
        if (place === undefined) return null;
        const isBad = nodes.some(({ nodeId }) => failing.value.has(nodeId));
        return (
          <rect
            key={id}
            class={`mm-n${isBad ? " bad" : ""}${isGroup ? " group" : ""}`}
            x={place.x - CARD.width / 2}
            y={place.y - CARD.height / 2}
            width={CARD.width}
            height={CARD.height}
            rx={10}
          />
        );
      })}
    </>
  );
}
