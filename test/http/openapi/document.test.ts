import { readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { openApiTemplate } from "../../../scripts/openapi.ts";
import type { Header, OpenApiDocument, Response } from "../../../src/http/openapi/document.ts";
import { ACTUATOR_TYPES, openApiDocument } from "../../../src/http/openapi/document.ts";
import { OPENAPI_TEMPLATE } from "../../../src/http/openapi/template.ts";
import { MEDIA_TYPES, V3 } from "../../../src/http/rest/negotiation.ts";
import { createRouter } from "../../../src/http/rest/routes.ts";
import { LINK_TYPES } from "../../../src/integration-graph/link-type.ts";
import { PATTERNS } from "../../../src/integration-graph/pattern.ts";
import { PROVIDER } from "../../../src/integration-graph/provider.ts";
import { LEVELS } from "../../../src/loggers/level.ts";
import { documentOf, SERVED, served } from "./documents.ts";

const METHODS = ["get", "put", "post", "delete", "patch", "trace"];

/** What the document says can be done: `GET /actuator/loggers`. */
function operationsOf(document: OpenApiDocument): string[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

describe("the document", () => {
  test.each(Object.keys(SERVED))("fits the schema of OpenAPI 3.1, of %s", async (name) => {
    const answer = await new Validator().validate(JSON.parse(JSON.stringify(documentOf(name))));
    expect(answer).toMatchObject({ valid: true });
  });

  test.each(Object.keys(SERVED))("has every route of %s and no others", (name) => {
    const routes = served(name).map(({ method, path }) => `${method} /actuator${path}`);
    expect(operationsOf(documentOf(name)).sort()).toEqual(routes.sort());
  });

  test.each(Object.keys(SERVED))("names the methods of every path as the router does, of %s", (name) => {
    const router = createRouter(served(name));
    for (const [path, item] of Object.entries(documentOf(name).paths)) {
      const { headers } = item.options!.responses[200] as Response;
      const { schema } = headers!.Allow as Header;
      const match = router(path.slice("/actuator".length).replace(/\{.*\}/, "x"));
      expect({ path, allow: (schema as { const: string }).const }).toEqual({ path, allow: match!.resource.allow });
    }
  });

  test("is an error for a route that openapi.yaml does not describe", () => {
    const route = { method: "GET", path: "/beans", permission: "info:read", open: false } as const;
    const settings = { application: {}, basePath: "/actuator", serverUrl: "http://x", schemes: [] };
    expect(() => openApiDocument({ ...settings, served: [route] })).toThrow("GET /beans");
  });

  test("names operations once", () => {
    const ids = Object.values(documentOf("everything").paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("writeLevel");
  });

  test("has nothing of what is not served, in its schemas either", () => {
    const text = JSON.stringify(documentOf("the loggers alone"));
    for (const word of ["SessionsResult", "IntegrationGraph", "/prometheus"]) {
      expect(text).not.toContain(word);
    }
  });

  test("has no operation that changes something in read-only mode", () => {
    expect(operationsOf(documentOf("everything, read-only")).filter((operation) => !/^GET /.test(operation))).toEqual(
      [],
    );
  });

  test.each(Object.keys(SERVED))("links only to what is served, of %s", (name) => {
    const document = documentOf(name);
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    const links = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap((answer) => Object.values(("links" in answer && answer.links) || {})),
    );
    const ids = operations.map(({ operationId }) => operationId);
    for (const { operationId } of links) expect(ids).toContain(operationId);
    expect(links.length > 0).toBe("/actuator/loggers" in document.paths);
  });

  test("asks callers who they are, with the permission of the route, where the server does", () => {
    const { paths, components } = documentOf("everything, secured");
    expect(paths["/actuator/loggers/{name}"]!.post!.security).toEqual([
      { bearer: ["loggers:write"] },
      { basic: ["loggers:write"] },
    ]);
    expect(paths["/actuator/health"]!.get!.security).toContainEqual({});
    expect(Object.keys(components.securitySchemes!)).toEqual(["bearer", "basic"]);
    const open = documentOf("everything");
    expect(open.paths["/actuator/loggers"]!.get!.security).toEqual([]);
    expect(open.paths["/actuator/loggers"]!.get!.responses).not.toHaveProperty("401");
    expect(open.components).not.toHaveProperty("securitySchemes");
  });

  test("answers in the types of the gateway", () => {
    expect(ACTUATOR_TYPES).toEqual(MEDIA_TYPES);
  });

  test("is generated from openapi.yaml", () => {
    const read = (name: string) => readFileSync(`src/http/openapi/${name}`, "utf8");
    expect(read("template.ts"), "npm run generate").toBe(openApiTemplate(read("openapi.yaml")));
  });

  test("has the values of the domains", () => {
    const { paths, components } = JSON.parse(OPENAPI_TEMPLATE);
    const { Level, LevelText, LoggersOverview, Node, Link } = components.schemas;
    expect(Level.enum).toEqual(LEVELS);
    expect(LoggersOverview.properties.levels.const).toEqual(LEVELS);
    for (const level of [...LEVELS, "FALSE"]) expect(level).toMatch(new RegExp(LevelText.pattern));
    expect(Node.properties.integrationPatternType.enum).toEqual(Object.values(PATTERNS).flat());
    expect(Node.properties.integrationPatternCategory.enum).toEqual(Object.keys(PATTERNS));
    expect(Link.properties.type.enum).toEqual(LINK_TYPES);
    const graph = paths["/integrationgraph"].get.responses[200].content[V3].examples.graph.value;
    expect(graph.contentDescriptor).toEqual(PROVIDER);
  });

  test("calls statuses what HTTP calls them here", () => {
    const { responses } = documentOf("everything").components;
    for (const { content } of Object.values(responses)) {
      const { example } = content!["application/json"] as { example: { status: number; error: string } };
      expect(example.error).toBe(STATUS_CODES[example.status]);
    }
  });
});
