/** A command or a line of code to copy. A long one scrolls, so it takes focus. */
export function CommandText({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: without it no key scrolls or selects it.
    <pre class="cmd" tabIndex={0}>
      {text}
    </pre>
  );
}
