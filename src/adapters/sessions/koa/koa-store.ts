/** A store that an application hands to koa-session as its `store`. What it does may be promised. */
export interface KoaStore {
  get(key: string, maxAge: number | "session" | undefined, options: { rolling: boolean; ctx?: unknown }): unknown;
  set(
    key: string,
    session: object,
    maxAge: number | "session" | undefined,
    options: { rolling: boolean; changed: boolean; ctx?: unknown },
  ): unknown;
  destroy(key: string, options: { ctx?: unknown }): unknown;
}
