/** The link in each row of the table, which stands for the row. */
function linksOf(body: HTMLElement | null): HTMLAnchorElement[] {
  return [...(body?.querySelectorAll<HTMLAnchorElement>("a.se-user") ?? [])];
}

/** Moves focus by rows: from the selected row on, if none has it. Returns false if there are no rows. */
export function moveRow(body: HTMLElement | null, by: 1 | -1): boolean {
  const links = linksOf(body);
  if (links.length === 0) return false;
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row || (row == null && link.closest("tr.sel") !== null));
  const next = at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
  links[next]!.focus();
  return true;
}

/** The link that opened the details which are shown. */
export function rowOf(body: HTMLElement | null, href: string): HTMLAnchorElement | undefined {
  return linksOf(body).find((link) => link.getAttribute("href") === href);
}
