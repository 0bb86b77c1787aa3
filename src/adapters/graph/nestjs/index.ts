export { nestjsSource } from "./adapter.ts";
export type { NestApplication } from "./container.ts";
export type { NestjsMessagingOptions } from "./options.ts";
