/** A line icon, for the eye only: the text beside it, or the label of its button, says the same. */
export function Icon({ name, size = 16, class: more = "" }: { name: string; size?: 12 | 16 | 24; class?: string }) {
  return (
    <svg class={`i i${size} ${more}`} aria-hidden="true">
      <use href={`#${name}`} />
    </svg>
  );
}
