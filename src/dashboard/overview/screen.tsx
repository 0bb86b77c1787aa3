/** The screen in work. */
export function Content() {
  return <div class="ov" />;
}
