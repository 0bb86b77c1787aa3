import type { RestApplication } from "../../support/rest-application.ts";
import type { RecordedExchange } from "./recorded-exchange.ts";

export const V3 = "application/vnd.service.actuator.v3+json";
export const SV3 = "application/vnd.spring-boot.actuator.v3+json";
export const SV2 = "application/vnd.spring-boot.actuator.v2+json";
export const JSON_TYPE = "application/json";

/** What of an answer is compared. A header that is undefined must not be there. */
export interface Expected {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly contentDisposition: string | undefined;
  /** Sorted. */
  readonly allow: string | undefined;
  readonly accept: string | undefined;
  /** As it was sent. Of an error, TIMESTAMP and MESSAGE stand for what differs each time. Undefined: not compared. */
  readonly text: string | undefined;
}

interface Context {
  readonly exchange: RecordedExchange;
  readonly expected: Expected;
  readonly application: RestApplication;
  readonly protocol: string;
}

/** One difference between what was recorded and what the contract demands. */
export interface Overruling {
  /** The contract's own words, or for a few what no contract can fix. */
  readonly because: string;
  readonly applies: (context: Context) => boolean;
  readonly demands: (context: Context) => Partial<Expected>;
}

/**
 * Which records the contract overrules, why, and what it demands instead. The rows are applied in order, each to what the
 * rows before it left; every record that no row applies to is compared as it was recorded.
 */
export const OVERRULED: readonly Overruling[] = [
  // What is asked for.
  {
    because:
      "The error for a bad request line or header is a plain 400 without a body (BREW is no method of HTTP/1.1).",
    applies: ({ exchange, protocol }) => exchange.request.method === "BREW" && protocol === "node:http",
    demands: () => badRequestLine,
  },
  {
    because: "The error for a bad request line or header is a plain 400 without a body (a path has no #).",
    applies: ids("paths-381"),
    demands: () => badRequestLine,
  },
  {
    because: "Names … over 512 bytes: 400.",
    applies: ids("paths-379"),
    demands: ({ exchange }) => problem(400, "Bad Request", exchange.request.path),
  },
  {
    because: "Names with control characters, encoded or not …: 400.",
    applies: ids("names-404", "names-405"),
    demands: ({ exchange }) => ({
      ...problem(400, "Bad Request", exchange.request.path),
      contentDisposition: undefined,
    }),
  },
  {
    because: "HEAD of an unknown name 404.",
    applies: ids("methods-295", "methods-316"),
    demands: () => ({ status: 404 }),
  },
  {
    because: "`charset` other than UTF-8: 415.",
    applies: ids("content-type-189"),
    demands: ({ exchange }) => ({
      ...problem(415, "Unsupported Media Type", exchange.request.path),
      accept: `${SV3}, ${SV2}, ${JSON_TYPE}`,
    }),
  },
  {
    because: "`username` given twice: 400.",
    applies: ids("sessions-452"),
    demands: () => problem(400, "Bad Request", "/actuator/sessions"),
  },

  // What is answered.
  {
    because: "Clearing ROOT works.",
    applies: ids("root-439"),
    demands: () => ({ status: 204, contentType: undefined, text: "" }),
  },
  {
    because: "Clearing ROOT: back to the level that the application started with.",
    applies: ids("root-440"),
    demands: () => ({ text: '{"configuredLevel":"INFO","effectiveLevel":"INFO"}' }),
  },
  {
    because: "`/loggers/root` is ROOT for GET too.",
    applies: ids("loggers-020", "root-442", "root-445"),
    demands: () => ({ ...ok, text: '{"configuredLevel":"INFO","effectiveLevel":"INFO"}' }),
  },
  {
    because:
      "A `name` … outside its place (other property, query) never overrides: the path's logger is the one that is set.",
    applies: ids("body-163"),
    demands: () => ({ text: '{"configuredLevel":"WARN","effectiveLevel":"WARN"}' }),
  },
  {
    because: "A `name` … outside its place never overrides: nobody set this logger.",
    applies: ids("body-182"),
    demands: () => ({ status: 404, contentType: undefined, contentDisposition: undefined, text: "" }),
  },
  {
    because: "A `configuredLevel` … outside its place (… query) never overrides.",
    applies: ids("query-184"),
    demands: () => ({ text: '{"effectiveLevel":"INFO"}' }),
  },
  {
    because: "A `name` … outside its place (… query) never overrides.",
    applies: ids("query-185"),
    demands: () => ({ text: '{"effectiveLevel":"INFO"}' }),
  },
  {
    because: "(The row that cleared this logger in between is not among the records.)",
    applies: ids("level-109", "level-111", "level-115"),
    demands: () => ({ text: '{"configuredLevel":"OFF","effectiveLevel":"OFF"}' }),
  },
  {
    because: "A never-expiring session is really deleted.",
    applies: ids("sessions-476"),
    demands: () => ({ status: 404, contentType: undefined, text: "" }),
  },
  {
    because:
      "`levels` are seven; `$` does not separate names, `/` does; names with control characters are refused. (The rows that " +
      "lead to 42, .x, x.html, x.json, x.svg, a$b$c, € and to the levels of a., lv.one and lv.two are not among the records.)",
    applies: ids("loggers-446"),
    demands: ({ expected }) => ({ text: overview(expected.text!) }),
  },
  {
    because:
      "Keys (of the index): self, health, info, loggers, loggers-name, sessions, sessions-sessionId, integrationgraph.",
    applies: ({ expected }) => expected.text?.startsWith('{"_links"') === true,
    demands: ({ expected }) => ({ text: index(expected.text!) }),
  },
  {
    because: 'GET /actuator/health: 200 {"status":"UP"}.',
    applies: ids("health-487"),
    demands: () => ({ text: '{"status":"UP"}' }),
  },
  {
    because: "GET /actuator/info: 200 application name, version, uptime (whose value is compared elsewhere).",
    applies: ids("health-488"),
    demands: () => ({ text: undefined }),
  },
  {
    because: "Keys in the spec's order, not sorted. The order of a user's sessions is the newest access first.",
    applies: ({ expected }) => expected.text?.includes('"attributeNames"') === true,
    demands: ({ expected }) => ({ text: sessions(expected.text!) }),
  },
  {
    because:
      "Keys in the spec's order, not sorted; the same graph, ids apart, and `observed` is true wherever numbers are taken. " +
      "The provider is who provides it.",
    applies: ({ expected }) => expected.text?.startsWith('{"contentDescriptor"') === true,
    demands: ({ expected, application }) => ({ text: integrationGraph(expected.text!, application) }),
  },

  // What it is answered as.
  {
    because: "q=0 is honoured.",
    applies: ids("accept-234", "accept-235"),
    demands: ({ exchange }) => notAcceptable(exchange),
  },
  {
    because: "An Accept that names only an unserved `+json` type: 406 with an application/json body.",
    applies: ids("accept-217"),
    demands: () => ({ contentType: JSON_TYPE }),
  },
  {
    because: "Errors are never HTML (and a 406 has the error body, too).",
    applies: ({ exchange, expected }) => exchange.response.status === 406 && expected.contentType !== JSON_TYPE,
    demands: ({ exchange }) => notAcceptable(exchange),
  },
  {
    because: "Errors are never HTML.",
    applies: ({ expected }) => expected.text === "(html)",
    demands: ({ exchange }) => problem(400, "Bad Request", exchange.request.path),
  },
  {
    because: "A tie goes to V3 (`application/json, text/plain, */*`).",
    applies: ids("accept-241"),
    demands: () => ({ contentType: V3 }),
  },
  {
    because: "The highest quality wins, and on a tie the order just named (V3, SV3, SV2, application/json).",
    applies: ids("accept-247"),
    demands: () => ({ contentType: SV2 }),
  },
  {
    because: "The highest quality wins, and on a tie the order just named (V3, SV3, SV2, application/json).",
    applies: ids("accept-253"),
    demands: () => ({ contentType: SV3 }),
  },
  {
    because: "V3 where the original says SV3 by default.",
    applies: ({ exchange, expected }) =>
      expected.contentType === SV3 && exchange.request.headers?.Accept?.includes(SV3) !== true,
    demands: () => ({ contentType: V3 }),
  },
  {
    because: "Errors … are V3 by default (the original: application/json).",
    applies: ({ expected }) => expected.status >= 400 && expected.status !== 406 && expected.contentType === JSON_TYPE,
    demands: () => ({ contentType: V3 }),
  },
  {
    because: "Errors … carry `message`.",
    applies: ({ expected }) => expected.text?.startsWith('{"timestamp"') === true,
    demands: ({ expected }) => {
      const { status, error, path } = JSON.parse(expected.text!);
      return { text: problem(status, error, path).text };
    },
  },
  {
    because: "No Content-Disposition on errors.",
    applies: ({ expected }) => expected.status >= 400 && expected.contentDisposition !== undefined,
    demands: () => ({ contentDisposition: undefined }),
  },
  {
    because: "Body types accepted: application/json, V3, SV3, SV2 (the original knows no V3); 406 lists the same.",
    applies: ({ expected }) => expected.accept?.startsWith(SV3) === true,
    demands: () => ({ accept: `${V3}, ${SV3}, ${SV2}, ${JSON_TYPE}` }),
  },
  {
    because: "`Allow` names what the route has, plus HEAD and OPTIONS.",
    applies: ({ expected }) => expected.allow !== undefined,
    demands: ({ exchange }) => ({ allow: allowed(exchange.request.path) }),
  },
];

const ok = { status: 200, contentType: V3 };

const badRequestLine: Partial<Expected> = { status: 400, contentType: undefined, allow: undefined, text: "" };

function ids(...wanted: string[]): Overruling["applies"] {
  return ({ exchange }) => wanted.includes(exchange.id);
}

function problem(status: number, error: string, path: string): Partial<Expected> & { readonly text: string } {
  const body = { timestamp: "TIMESTAMP", status, error, message: "MESSAGE", path };
  return { status, contentType: V3, text: JSON.stringify(body) };
}

function notAcceptable({ request }: RecordedExchange): Partial<Expected> {
  return {
    ...problem(406, "Not Acceptable", request.path),
    contentType: JSON_TYPE,
    accept: `${SV3}, ${SV2}, ${JSON_TYPE}`,
  };
}

function allowed(path: string): string {
  if (/\/loggers\/.|\/integrationgraph/.test(path)) return "GET, HEAD, OPTIONS, POST";
  return path.includes("/sessions/") ? "DELETE, GET, HEAD, OPTIONS" : "GET, HEAD, OPTIONS";
}

function overview(recorded: string): string {
  const { loggers, groups } = JSON.parse(recorded) as { loggers: Record<string, object>; groups: object };
  const absent = /^(?:42|\.x|x\.(?:html|json|svg)|a\nb|a\$b.*|€.*|lv\.four|.*\/.*)$/;
  const shown = new Map(Object.entries(loggers).filter(([name]) => !absent.test(name)));
  shown.set("a.", { effectiveLevel: "WARN" }).set("q.one", { effectiveLevel: "INFO" });
  for (const name of ["lv.one", "lv.two"]) shown.set(name, { configuredLevel: "OFF", effectiveLevel: "OFF" });
  const levels = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
  return JSON.stringify({ levels, loggers: Object.fromEntries(shown), groups });
}

function index(recorded: string): string {
  const { href: self } = JSON.parse(recorded)._links.self as { href: string };
  const fixed = (path: string) => ({ href: self + path, templated: false });
  const templated = (path: string) => ({ href: self + path, templated: true });
  return JSON.stringify({
    _links: {
      self: fixed(""),
      health: fixed("/health"),
      info: fixed("/info"),
      loggers: fixed("/loggers"),
      "loggers-name": templated("/loggers/{name}"),
      sessions: fixed("/sessions"),
      "sessions-sessionId": templated("/sessions/{sessionId}"),
      integrationgraph: fixed("/integrationgraph"),
    },
  });
}

type Fields = Readonly<Record<string, unknown>>;

function sessions(recorded: string): string {
  const value = JSON.parse(recorded) as Fields & { readonly sessions?: (Fields & { lastAccessedTime: string })[] };
  const inOrder = ({ id, attributeNames, creationTime, lastAccessedTime, maxInactiveInterval, expired }: Fields) => {
    return { id, attributeNames, creationTime, lastAccessedTime, maxInactiveInterval, expired };
  };
  if (value.sessions === undefined) return JSON.stringify(inOrder(value));
  const newestFirst = value.sessions.toSorted((a, b) => (a.lastAccessedTime < b.lastAccessedTime ? 1 : -1));
  return JSON.stringify({ sessions: newestFirst.map(inOrder) });
}

function integrationGraph(recorded: string, { graph }: RestApplication): string {
  const { nodes, links } = JSON.parse(recorded) as {
    readonly nodes: (Fields & { readonly nodeId: number; readonly name: string })[];
    readonly links: { readonly from: number; readonly to: number; readonly type: string }[];
  };
  const ours = new Map(graph.graph.snapshot().nodes.map((node) => [node.name, node]));
  const ids = new Map(nodes.map(({ nodeId, name }) => [nodeId, ours.get(name)!.nodeId]));
  return JSON.stringify({
    contentDescriptor: { providerVersion: "0.1.0", providerFormatVersion: 1.2, provider: "connect-actuator" },
    nodes: nodes.map((node) => ({
      nodeId: ids.get(node.nodeId),
      componentType: node.componentType,
      integrationPatternType: node.integrationPatternType,
      integrationPatternCategory: node.integrationPatternCategory,
      properties: node.properties,
      sendTimers: node.sendTimers,
      receiveCounters: node.receiveCounters,
      name: node.name,
      observed: ours.get(node.name)!.observed,
      input: node.input,
    })),
    links: links.map(({ from, to, type }) => ({ from: ids.get(from), to: ids.get(to), type })),
  });
}
