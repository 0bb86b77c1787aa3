/**
 * Sends every RPC to connect: a setup file of Vitest's project "connect path". The processes that tests start preload it too, by
 * NODE_OPTIONS.
 */
import { directPath } from "../../src/http/rpc/direct/switch.ts";

directPath.enabled = false;
