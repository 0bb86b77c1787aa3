const widths = new Map<string, number>();
const MAX_KNOWN = 5_000;
let context: CanvasRenderingContext2D | null = null;

/** The width of a text in pixels, in the font of the page. `weight` as in CSS. */
export function textWidth(text: string, size: number, weight = 400): number {
  const key = `${size} ${weight} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (widths.size >= MAX_KNOWN) widths.clear();
  context ??= document.createElement("canvas").getContext("2d");
  if (context === null) return text.length * size;
  context.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  const { width } = context.measureText(text);
  widths.set(key, width);
  return width;
}

/** A text cut so that it is at most `width` pixels wide, with `…` at its end if something is missing. */
export function fitting(text: string, size: number, width: number, weight = 400): string {
  if (text.length <= 200 && textWidth(text, size, weight) <= width) return text;
  const characters = [...text.slice(0, 200)];
  let [low, high] = [1, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(`${characters.slice(0, middle).join("")}…`, size, weight) <= width) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("").trimEnd()}…`;
}
