import type { ServerAnswer, ServerRequest } from "./handler.ts";

/**
 * Tells a client that holds its body back (`Expect: 100-continue`) to go on when somebody begins to read it. Who is refused
 * by the headers alone is not asked for it (RFC 9110 section 10.1.1); Node would ask before anybody has seen the headers.
 */
export function continueWhenRead(req: ServerRequest, res: ServerAnswer): void {
  const read = req._read;
  req._read = (size) => {
    req._read = read;
    if (!res.headersSent && isOpen(res)) res.writeContinue();
    read.call(req, size);
  };
}

function isOpen(res: ServerAnswer): boolean {
  const { closed, destroyed } = "stream" in res ? res.stream : res;
  return !closed && !destroyed;
}
