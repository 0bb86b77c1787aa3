import type { RestRequest } from "../../support/rest-client.ts";

/** A request, and what is known of its answer. */
export interface KnownAnswer {
  readonly request: RestRequest;
  readonly status: number;
  readonly cacheControl: "no-cache" | "no-store";
  readonly etag: "present" | "absent";
}

type Row = readonly [
  status: number,
  cacheControl: KnownAnswer["cacheControl"],
  etag: KnownAnswer["etag"],
  path: string,
  more?: Omit<RestRequest, "path">,
];

const JSON_BODY = { method: "POST", headers: { "Content-Type": "application/json" } };

const ROWS: readonly Row[] = [
  [200, "no-cache", "absent", "/actuator"],
  [200, "no-cache", "absent", "/actuator/health"],
  [200, "no-cache", "absent", "/actuator/info"],
  [200, "no-cache", "absent", "/actuator/prometheus"],
  [200, "no-cache", "absent", "/actuator/prometheus", { method: "HEAD" }],
  [406, "no-cache", "absent", "/actuator/prometheus", { headers: { Accept: "image/png" } }],
  [200, "no-cache", "present", "/actuator/loggers"],
  [200, "no-cache", "present", "/actuator/loggers", { method: "HEAD" }],
  [200, "no-cache", "absent", "/actuator/loggers", { method: "OPTIONS" }],
  [405, "no-cache", "absent", "/actuator/loggers", { method: "PUT" }],
  [406, "no-cache", "absent", "/actuator/loggers", { headers: { Accept: "text/plain" } }],
  [200, "no-cache", "absent", "/actuator/loggers/ROOT"],
  [404, "no-cache", "absent", "/actuator/loggers/nope"],
  [204, "no-cache", "absent", "/actuator/loggers/a", JSON_BODY],
  [415, "no-cache", "absent", "/actuator/loggers/a", { method: "POST" }],
  [200, "no-cache", "present", "/actuator/integrationgraph"],
  [204, "no-cache", "absent", "/actuator/integrationgraph", JSON_BODY],
  [404, "no-cache", "absent", "/actuator/nope"],
  [400, "no-cache", "absent", "/actuator#"],
  [200, "no-store", "absent", "/actuator/sessions?username=alice"],
  [200, "no-store", "absent", "/actuator/sessions?username=alice", { method: "HEAD" }],
  [400, "no-store", "absent", "/actuator/sessions"],
  [200, "no-store", "absent", "/actuator/sessions/s1"],
  [404, "no-store", "absent", "/actuator/sessions/nope"],
  [400, "no-store", "absent", "/actuator/sessions/%ff"],
  [406, "no-store", "absent", "/actuator/sessions/s1", { headers: { Accept: "text/plain" } }],
  [405, "no-store", "absent", "/actuator/sessions/s1", { method: "PUT" }],
  [200, "no-store", "absent", "/actuator/sessions/s1", { method: "OPTIONS" }],
  [204, "no-store", "absent", "/actuator/sessions/s1", { method: "DELETE" }],
];

/** Answers of at most 1 KiB. The application has metrics, and a session s1 of alice, which the last request ends. */
export const KNOWN_ANSWERS: readonly KnownAnswer[] = ROWS.map(([status, cacheControl, etag, path, more]) => ({
  request: { method: "GET", ...more, path },
  status,
  cacheControl,
  etag,
}));
