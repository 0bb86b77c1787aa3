/** Error codes of HTTP/2 (RFC 9113 section 7) by name, without `node:http2`, which most processes never load. */
export const HTTP2_CODES = {
  NO_ERROR: 0x0,
  INTERNAL_ERROR: 0x2,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  ENHANCE_YOUR_CALM: 0xb,
  HTTP_1_1_REQUIRED: 0xd,
} as const;
