import type { Notice } from "../../loggers/notice.ts";

/**
 * The value of `Actuator-Notice`, such as `LOGGER_UNKNOWN; nearest="shop.orders"`: a list of codes, each with the logger that was
 * probably meant. A name with characters beyond ASCII is encoded as RFC 8187 says (`nearest*=UTF-8''caf%C3%A9`).
 */
export function noticeHeader(notices: readonly Notice[]): string {
  return notices
    .map(({ code, nearest }) => (nearest === undefined ? code : `${code}; ${parameter(nearest)}`))
    .join(", ");
}

function parameter(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `nearest="${name.replace(/["\\]/g, "\\$&")}"`;
  return `nearest*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}
