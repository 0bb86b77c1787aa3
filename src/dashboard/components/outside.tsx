const MAX_TITLE = 1_000;
/** Control characters, and those that change the direction of text or have no width. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A text with each unseen character as its code point, such as `U+202E`. */
export function seen(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

/** A text from outside, such as a logger's name: never markup, isolated in its direction, cut by the style, whole on hover. */
export function Outside({ text, class: look = "" }: { text: string; class?: string }) {
  const whole = seen(text);
  return (
    <bdi class={look} title={whole.slice(0, MAX_TITLE)}>
      {whole}
    </bdi>
  );
}
