import { seen } from "./outside.tsx";

/** A text from outside with the first occurrence of `text`, in any case, marked. */
export function Marked({ whole, text, class: look = "" }: { whole: string; text: string; class?: string }) {
  const at = text === "" ? -1 : whole.toLowerCase().indexOf(text.toLowerCase());
  const end = at + text.length;
  return (
    <bdi class={look}>
      {at === -1 ? (
        seen(whole)
      ) : (
        <>
          {seen(whole.slice(0, at))}
          <mark>{seen(whole.slice(at, end))}</mark>
          {seen(whole.slice(end))}
        </>
      )}
    </bdi>
  );
}
