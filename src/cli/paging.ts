/** The pages of a list, one after the other, until the server has no more or nobody asks for more. */
export async function* pages<Page extends { readonly nextPageToken: string }>(
  fetch: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = "";
  do {
    const page = await fetch(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
