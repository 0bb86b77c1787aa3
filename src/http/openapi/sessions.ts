import { usualHeaders } from "./headers.ts";
import { actuatorContent } from "./media-types.ts";
import type { EndpointPart, Parameter, Response } from "./model.ts";
import { problems } from "./problems.ts";
import { nothing } from "./responses.ts";
import { SESSION_SCHEMAS } from "./sessions-schemas.ts";

const SESSION_ID: Parameter = {
  name: "sessionId",
  in: "path",
  required: true,
  description:
    "The session's id as the answers show it: a hash of the real one, unless the application shows that. Compared exactly; percent-encode whatever a path cannot hold.",
  schema: { $ref: "#/components/schemas/SessionId" },
  example: "4db5efcc-99cb-4d05-a52c-b49acfbb7ea9",
};

const USERNAME: Parameter = {
  name: "username",
  in: "query",
  required: true,
  description: "The name of the user, exactly and once, encoded as an HTML form does.",
  schema: { type: "string" },
  example: "alice",
};

const SESSION = {
  id: "4db5efcc-99cb-4d05-a52c-b49acfbb7ea9",
  attributeNames: ["cart"],
  creationTime: "2026-11-21T05:14:04.950Z",
  lastAccessedTime: "2026-11-21T06:13:19.950Z",
  maxInactiveInterval: 1800,
  expired: false,
};

const found = (schema: string, description: string, summary: string, value: unknown): Response => ({
  description,
  headers: usualHeaders("NoStore"),
  content: actuatorContent({
    schema: { $ref: `#/components/schemas/${schema}` },
    examples: { sessions: { summary, value } },
  }),
});

const link = (operationId: string, description: string, sessionId: string) => ({
  operationId,
  description,
  parameters: { sessionId },
});

/** Who is logged in. */
export const SESSIONS: EndpointPart = {
  tag: { name: "sessions", description: "The HTTP sessions that the application's store holds." },
  cacheControl: "NoStore",
  schemas: SESSION_SCHEMAS,
  operations: {
    "GET /sessions": {
      operationId: "findSessions",
      summary: "The sessions of a user",
      description: "A list is never cut short: where the store cannot be searched to its end, there is none.",
      parameters: [USERNAME],
      responses: {
        200: {
          ...found("SessionsResult", "The user's sessions; none for a user whom nobody knows.", "One session", {
            sessions: [SESSION],
          }),
          links: {
            read: link("readSession", "The first of the sessions.", "$response.body#/sessions/0/id"),
            delete: link("deleteSession", "Ends the first of the sessions.", "$response.body#/sessions/0/id"),
          },
        },
        404: nothing("The store cannot be searched by user, or not to its end. There is no body.", "NoStore"),
        ...problems("NotAcceptable", "ServiceUnavailable"),
      },
    },
    "GET /sessions/{sessionId}": {
      operationId: "readSession",
      summary: "One session",
      description: "Times that nobody recorded are those at which the process first saw the session.",
      parameters: [SESSION_ID],
      responses: {
        200: {
          ...found("Session", "The session.", "A session", SESSION),
          links: { delete: link("deleteSession", "Ends the session.", "$response.body#/id") },
        },
        404: nothing("There is no such session, or it could not be found out. There is no body.", "NoStore"),
        ...problems("NotAcceptable", "ServiceUnavailable"),
      },
    },
    "DELETE /sessions/{sessionId}": {
      operationId: "deleteSession",
      summary: "Ends a session",
      description: "Its user is logged out.",
      parameters: [SESSION_ID],
      responses: {
        204: nothing("There is no such session any more, whether there was one or not. There is no body.", "NoStore"),
        404: nothing("It could not be found out which session this is. There is no body.", "NoStore"),
        ...problems("MethodNotAllowed", "NotImplemented", "ServiceUnavailable"),
      },
    },
  },
};
