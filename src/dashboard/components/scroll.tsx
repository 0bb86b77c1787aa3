import type { ComponentChildren } from "preact";

/** What scrolls within a pane. It takes focus, so that keys scroll it, too. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: without it no key scrolls what has no control.
    <div class="scroll" tabIndex={0} role="region" aria-label={`${label}, scrolls`}>
      {children}
    </div>
  );
}
