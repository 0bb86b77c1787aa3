/** What of an application of NestJS is shown. */
export interface NestjsMessagingOptions {
  /**
   * Which routes of HTTP are endpoints: those of controllers that have something to send by, themselves or through a provider
   * ("senders", the default), all, or none. Most routes of most applications have nothing to do with messages, and would hide what
   * does. A channel of amqplib that the application provides by itself is nothing to send by; then "all" shows its routes.
   */
  readonly routes?: "senders" | "all" | "none" | undefined;
}
