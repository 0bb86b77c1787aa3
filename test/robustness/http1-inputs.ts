import type { Random } from "../support/random.ts";
import type { Input } from "../support/server-hostile-inputs.ts";

const LEVEL = '{"configuredLevel":"debug"}';
const SMUGGLED = "POST /actuator/loggers/smuggled HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
/** A request inside the body of another. A server that takes it for a request of its own creates this logger. */
export const BODIED = "bodied";
const INNER = `${SMUGGLED}Content-Length: ${LEVEL.length}\r\n\r\n${LEVEL}`;

const ENCODINGS = [
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity, chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding : chunked",
  " Transfer-Encoding: chunked",
  "X: y\r\n Transfer-Encoding: chunked",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
  "Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
  "TRANSFER-ENCODING: CHUNKED",
  "Transfer-Encoding: chunked;q=1",
  'Transfer-Encoding: "chunked"',
  "Transfer_Encoding: chunked",
  "Transfer-Encoding: chunked\0",
];
const LENGTHS = [
  "0",
  "5",
  "+5",
  "-5",
  " 5",
  "5 ",
  "0x5",
  "5,5",
  "5, 6",
  "05",
  "5.0",
  "1e1",
  "9".repeat(25),
  "",
  "five",
];
const CHUNKS = [
  "0\r\n\r\n",
  "5\r\nhello\r\n0\r\n\r\n",
  "5;ext=1\r\nhello\r\n0\r\n\r\n",
  `5;${"a".repeat(8_000)}\r\nhello\r\n0\r\n\r\n`,
  `5;${"a".repeat(40_000)}\r\nhello\r\n0\r\n\r\n`,
  "5\nhello\n0\n\n",
  "5 \r\nhello\r\n0\r\n\r\n",
  "0x5\r\nhello\r\n0\r\n\r\n",
  "-1\r\nhello\r\n0\r\n\r\n",
  `${"f".repeat(17)}\r\nhello\r\n`,
  "7fffffffffffffff\r\nhello\r\n",
  "5\r\nhelloXX0\r\n\r\n",
  "5\r\nhello\r\n0\r\nHost: evil\r\nContent-Length: 3\r\n\r\n",
  `0\r\n${"T: x\r\n".repeat(3_000)}\r\n`,
  "00000000000000000000005\r\nhello\r\n0\r\n\r\n",
  "5\r\nhello\r\n0\r\n",
];
const TARGETS = [
  "/actuator/../../etc/passwd",
  "/actuator/%2e%2e/%2e%2e/etc/passwd",
  "/actuator/..%2f..%2fetc",
  "/actuator/..;/loggers",
  "/actuator\\loggers",
  "/actuator//loggers",
  "/actuator/loggers/",
  "/actuator/loggers/%00",
  "/actuator/loggers/a%0d%0aSet-Cookie:%20x=y",
  "/actuator/loggers/%c0%ae%c0%ae",
  "/actuator/loggers/%f0%9f%92%a9",
  "/actuator/loggers/%ed%a0%80%ed%b0%80",
  "/actuator/loggers/\xff\xfe",
  "/actuator/loggers/__proto__",
  "/actuator/loggers/constructor",
  "/actuator/loggers/toString",
  "/actuator/loggers/hasOwnProperty.call",
  "/actuator/sessions/__proto__",
  "/actuator/sessions?username=__proto__",
  "/actuator/sessions?__proto__=ada&constructor[prototype]=x&username=ada&username=bob",
  "/actuator/sessions?username=%ff%fe%zz",
  `/actuator/loggers?${"&a=1".repeat(1_500)}`,
  `/actuator/loggers/${"a".repeat(2_000)}`,
  `/actuator/loggers/${"a.".repeat(3_000)}`,
  `/actuator/loggers/${"%61".repeat(3_000)}`,
  `/actuator/loggers/${"x".repeat(15_000)}`,
  `/${"x".repeat(40_000)}`,
  "http://evil.example/actuator/loggers",
  "http://localhost:1/actuator",
  "https://[::1/actuator",
  "localhost:80",
  "*",
  "/actuator/health/liveness/../../sessions",
  "/actuator;jsessionid=1/loggers",
  "/actuator/loggers#x",
  "/actuator/loggers?level=%",
  "/v1/traces",
  "/v1/traces/../../actuator",
  "/actuator.v3.LoggersService/__proto__",
  "/actuator.v3.__proto__/constructor",
  "/actuator.v3.LoggersService/GetLogger/",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo?connect=v1",
  "/actuator/prometheus",
  "/actuator/openapi.json",
];
const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PATCH",
  "LINK",
  "PURGE",
  "M-SEARCH",
  "QUERY",
  "BREW",
];
const FIELDS = [
  `Accept: ${"a/b;q=0.1,".repeat(1_200)}`,
  `Accept: */*;q=${"0".repeat(5_000)}`,
  `Accept-Encoding: ${"gzip;q=0.000,".repeat(900)}`,
  `If-None-Match: ${'"x",'.repeat(3_000)}`,
  `If-None-Match: ${'W/"'.repeat(4_000)}`,
  `Content-Type: ${";a=b".repeat(3_000)}`,
  `Content-Type: application/json;charset=${'"'.repeat(9_000)}`,
  `Cookie: ${"a=b; ".repeat(2_500)}`,
  `Authorization: Bearer ${"a".repeat(12_000)}`,
  "Authorization: Basic " + "====",
  "Authorization: Bearer \xff\xfe",
  `X-Forwarded-For: ${"1.2.3.4,".repeat(1_500)}`,
  "X-Forwarded-Host: [::1",
  "X-Forwarded-Prefix: //evil.example",
  `Forwarded: ${'for="'.repeat(2_000)}`,
  `Range: bytes=0-1,2-3,${"4-5,".repeat(2_000)}`,
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
  "Connection: close, keep-alive, x-y, Host, Content-Length",
  "Origin: null\r\nSec-Fetch-Site: cross-site",
  "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST",
  "Host: other",
  "host: localhost\r\nHOST: localhost",
  ": empty",
  "no colon",
  "a b: c",
  "a\0b: c",
  "a: b\0c",
  "A: b\r\n\tfolded\r\n folded",
  "__proto__: x\r\nconstructor: y",
  "Connect-Timeout-Ms: 99999999999",
  "Grpc-Timeout: 99999999H",
  "X-Bin: %%%\r\nGrpc-Status: 0",
  "X-HTTP-Method-Override: DELETE",
  `traceparent: 00-${"f".repeat(9_000)}`,
  `A: ${"b".repeat(20_000)}`,
  `${"C: d\r\n".repeat(2_500)}E: f`,
];

function head(method: string, target: string, ...fields: readonly string[]): string {
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n`;
}

/** What an attacker writes on an HTTP/1.1 connection. */
export const HTTP1_INPUTS: Readonly<Record<string, (random: Random) => Input>> = {
  "two lengths": (random) => [
    head(
      "POST",
      "/actuator/loggers/ROOT",
      `Content-Length: ${random.pick(LENGTHS)}`,
      `Content-Length: ${random.pick(LENGTHS)}`,
    ),
    "hello",
    INNER,
  ],
  "a length and an encoding": (random) => [
    head(
      "POST",
      random.pick(["/actuator/loggers/ROOT", "/actuator.v3.LoggersService/GetLogger", "/v1/traces"]),
      ...random.pick([
        [`Content-Length: ${random.pick(LENGTHS)}`, random.pick(ENCODINGS)],
        [random.pick(ENCODINGS), `Content-Length: ${random.pick(LENGTHS)}`],
      ]),
    ),
    random.pick(CHUNKS),
    INNER,
  ],
  "a request in the body of a GET": () => {
    const inner = INNER.replace("smuggled", BODIED);
    return [head("GET", "/actuator/health", `Content-Length: ${inner.length}`, "Connection: close") + inner];
  },
  "an odd encoding": (random) => [
    head("POST", "/actuator/loggers/ROOT", random.pick(ENCODINGS)) + random.pick(CHUNKS) + INNER,
  ],
  "odd chunks": (random) => [
    head(
      "POST",
      random.pick(["/actuator/loggers/ROOT", "/v1/traces"]),
      "Content-Type: application/json",
      ENCODINGS[0]!,
    ),
    ...Array.from({ length: 1 + random.below(3) }, () => random.pick(CHUNKS)),
  ],
  "bare line feeds": (random) => [
    head("GET", random.pick(TARGETS)).replaceAll("\r\n", random.pick(["\n", "\r", "\n\r", "\r\r\n"])),
  ],
  "odd targets": (random) => [head(random.pick(METHODS), random.pick(TARGETS))],
  "odd fields": (random) => [
    head(
      random.pick(METHODS),
      random.pick(["/actuator/loggers", "/actuator", ...TARGETS]),
      random.pick(FIELDS),
      random.pick(FIELDS),
    ),
  ],
  "no Host, or two": (random) => [
    random.pick([
      "GET /actuator/loggers HTTP/1.1\r\n\r\n",
      "GET /actuator/loggers HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
      "GET /actuator/loggers HTTP/1.1\r\nHost:\r\n\r\n",
      "GET http://evil/actuator/loggers HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /actuator/loggers HTTP/1.0\r\n\r\n",
      "GET /actuator/loggers\r\n\r\n",
    ]),
  ],
  "a tunnel": (random) => [
    `CONNECT ${random.pick(["127.0.0.1:22", "/actuator", "[::1]:80", "x"])} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    random.bytes(20),
  ],
  "a change on a prototype": (random) => [
    head(
      "POST",
      `/actuator/loggers/${random.pick(["__proto__", "constructor", "prototype", "constructor.prototype", "valueOf"])}`,
      "Content-Type: application/json",
      `Content-Length: ${LEVEL.length}`,
    ) + LEVEL,
  ],
  "many new loggers": (random) => [
    Array.from(
      { length: 20 },
      () =>
        head(
          "POST",
          `/actuator/loggers/flood.n${random.below(1e9)}`,
          "Content-Type: application/json",
          `Content-Length: ${LEVEL.length}`,
        ) + LEVEL,
    ).join(""),
  ],
  "a drip": (random) => {
    const text = head("POST", "/actuator/loggers/drip", "Content-Type: application/json", "Content-Length: 500");
    const writes: (string | number)[] = [text.slice(0, random.below(text.length))];
    for (let drops = random.below(30); drops > 0; drops--) writes.push(10 + random.below(30), "x");
    return writes;
  },
  "a drip of body": (random) => {
    const writes: (string | number)[] = [
      head("POST", random.pick(["/actuator/loggers/drip", "/v1/traces"]), "Content-Length: 5000"),
    ];
    for (let drops = random.below(30); drops > 0; drops--) writes.push(10 + random.below(30), " ");
    return writes;
  },
  "a hundred requests and away": (random) => [
    head("GET", random.pick(["/actuator/loggers", "/actuator/integrationgraph"])).repeat(100),
  ],
  "nothing at all": (random) => [random.below(50)],
  deletes: (random) => [
    head("DELETE", `/actuator/sessions/${random.pick(["__proto__", "x".repeat(5_000), "%00", "%ff", "nobody"])}`),
  ],
};
