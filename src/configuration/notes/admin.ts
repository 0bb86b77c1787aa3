import type {
  AdminTlsOptions,
  CallCredentials,
  SpringBootAdminOptions,
} from "../../operations/spring-boot-admin/options.ts";
import { type Notes, TEXT_OR_TEXTS } from "../setting.ts";

const CREDENTIALS_NOTES: Notes<CallCredentials> = {
  username: { description: "Any name without a colon." },
  password: { description: "A token of the actuator.", secret: true },
};

/** What is said of the options of registering with Spring Boot Admin. */
export const ADMIN_NOTES: Notes<SpringBootAdminOptions> = {
  url: { description: "The address of the server, or several.", kind: "list", schema: TEXT_OR_TEXTS },
  name: { description: "What the server calls the application. Default: name." },
  managementUrl: { description: "Where the server finds the actuator. Default: the address that is listened on." },
  serviceUrl: { description: "The application itself. Default: the origin of managementUrl." },
  healthUrl: { description: "What the server asks for the status. Default: managementUrl and /health." },
  username: { description: "Who registers, where the server asks for it." },
  password: { description: "The password of username.", secret: true },
  credentials: { description: "What the server shall send to the actuator.", notes: CREDENTIALS_NOTES },
  metadata: { description: 'What the server shows: { "tags.environment": "production" }.', kind: "texts" },
  intervalMs: { description: "How often the registration is renewed.", default: 10_000 },
  timeoutMs: { description: "How long one request may take.", default: 5_000 },
  deregister: { description: "Whether the end of the actuator ends the registration.", default: true },
  deregisterTimeoutMs: { description: "How long that end may hold up the end of the actuator.", default: 2_000 },
  registerOnce: { description: "Whether the first of several servers that answers is enough.", default: false },
  tls: {
    description: "How https servers are known.",
    notes: {
      ca: { description: "The authorities to verify them against: a PEM file.", path: "read" },
    } satisfies Notes<AdminTlsOptions>,
  },
};
