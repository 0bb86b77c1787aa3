/** Cases of h2spec that fail on Node.js itself, by section and place there, and what nghttp2 under it does instead. */
export const NODE_FAILURES: Readonly<Record<string, string>> = {
  "http2/5.1 #8": "DATA after RST_STREAM is ignored: frames may still have been under way",
  "http2/5.1 #9": "HEADERS after RST_STREAM are ignored, for the same reason",
  "http2/5.1 #11": "DATA on a stream that both sides ended is ignored",
  "http2/5.1 #12": "HEADERS on a stream that both sides ended are ignored",
  "http2/5.1.1 #2": "a stream numbered below the last one is ignored, and the one before answered",
  "http2/5.3.1 #2": "PRIORITY is ignored altogether, as RFC 9113 section 5.3.2 has it",
  "http2/6.3 #1": "PRIORITY is ignored altogether, on stream 0 too",
  "http2/6.7 #2": "a PING acknowledged without having been sent ends the connection",
  "http2/6.9.1 #3": "a window above 2^31-1 of one stream ends the whole connection",
};

/** What fails here beyond that. */
export const CLEARTEXT_FAILURES: Readonly<Record<string, string>> = {
  "http2/3.5 #2": "what does not begin with the preface of HTTP/2 is HTTP/1.1 on this port, and is answered 400",
};
