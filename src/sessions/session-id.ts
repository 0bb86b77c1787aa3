const MAX_LENGTH = 512;
const CONTROL_CHARACTER = /\p{Cc}/u;
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

/**
 * Whether a session can have this id: 1 to 512 UTF-16 code units, no control character, and no `.` or `..` between
 * slashes, because stores that keep a session in a file make its name from the id. Any other id is simply not found.
 */
export function isSessionId(id: string): boolean {
  return id !== "" && id.length <= MAX_LENGTH && !CONTROL_CHARACTER.test(id) && !DOT_SEGMENT.test(id);
}
