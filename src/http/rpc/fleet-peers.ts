import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type HandlerContext, type Transport } from "@connectrpc/connect";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetInstance } from "../../fleet/instance.ts";
import { requestContextOf } from "./calls/call-context.ts";
import type { LocalCalls, LocalClients } from "./local-calls.ts";

/** Reaches another instance. Rejects with an ActuatorError if it must not be asked. */
export type Dial = (instance: FleetInstance) => Promise<Transport>;

/** What one instance answered. */
export interface PeerAnswer<T> {
  readonly instance: string;
  readonly value: T;
}

/** An instance that did not answer, and why. */
export interface UnreadPeer {
  readonly instance: string;
  readonly reason: string;
}

/** What several instances answered. */
export interface PeerAnswers<T> {
  readonly answers: readonly PeerAnswer<T>[];
  readonly unread: readonly UnreadPeer[];
}

/** The most instances that one call asks. */
const MAX_ASKED = 200;
const AT_ONCE = 16;
/** For the answer of one instance, and for all: less than callers wait, so that those that hang are named in the answer. */
const TIMEOUT_MS = 4_000;
const ALL_MS = 8_500;
/** Of what an instance says of its fault. */
const MAX_REASON = 300;

/** The instances of the fleet as a call asks them: the one that answers by itself, with the caller's permissions, others over RPC. */
export class FleetPeers {
  readonly #fleet: Fleet;
  readonly #dial: Dial;
  readonly #local: Pick<LocalCalls, "clients" | "serves">;

  constructor(fleet: Fleet, dial: Dial, local: Pick<LocalCalls, "clients" | "serves">) {
    this.#fleet = fleet;
    this.#dial = dial;
    this.#local = local;
  }

  /**
   * Makes clients of the services of an instance.
   *
   * @throws ActuatorError if it cannot be asked
   */
  async clients(instance: FleetInstance, { values }: Pick<HandlerContext, "values">): Promise<LocalClients> {
    if (instance.isSelf) {
      const own = this.#local.clients(requestContextOf(values).inner());
      return <S extends DescService>(service: S): Client<S> => {
        if (this.#local.serves(service)) return own(service);
        throw unasked(`it does not serve ${service.typeName}`);
      };
    }
    const transport = await this.#dial(instance);
    return (service) => createClient(service, transport);
  }

  /**
   * Asks all matching instances.
   *
   * @throws ActuatorError UNAVAILABLE if the engine does not answer, INVALID_ARGUMENT for the selector
   */
  async ask<T>(
    selector: string,
    context: Pick<HandlerContext, "values" | "signal">,
    question: (clients: LocalClients, signal: AbortSignal) => Promise<T>,
  ): Promise<PeerAnswers<T>> {
    const answers: PeerAnswer<T>[] = [];
    const unread: UnreadPeer[] = [];
    const instances = await this.#fleet.instances(selector);
    const queue: FleetInstance[] = [];
    for (const [at, instance] of instances.entries()) {
      const reason = whyNotAsked(instance, at);
      if (reason === undefined) queue.push(instance);
      else unread.push({ instance: instance.id, reason });
    }

    const ended = AbortSignal.any([context.signal, AbortSignal.timeout(ALL_MS)]);
    const askNext = async (): Promise<void> => {
      for (let instance = queue.shift(); instance !== undefined; instance = queue.shift()) {
        const late = AbortSignal.timeout(TIMEOUT_MS);
        const signal = AbortSignal.any([ended, late]);
        try {
          const value = await question(await this.clients(instance, context), signal);
          answers.push({ instance: instance.id, value });
        } catch (error) {
          context.signal.throwIfAborted();
          unread.push({ instance: instance.id, reason: reasonFor(error, late, ended) });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askNext));
    return { answers: answers.sort(byInstance), unread: unread.sort(byInstance) };
  }
}

function reasonFor(error: unknown, late: AbortSignal, ended: AbortSignal): string {
  if (late.aborted) return `no answer within ${TIMEOUT_MS / 1_000} s`;
  return ended.aborted ? "not asked in time, because others do not answer" : reasonOf(error);
}

/** Why an instance is not asked; undefined: it is. `at` is its place among those that match. */
export function whyNotAsked({ isGone }: FleetInstance, at: number): string | undefined {
  if (at >= MAX_ASKED) return `not asked: one call asks at most ${MAX_ASKED} instances`;
  return isGone ? "it has not reported for 15 seconds" : undefined;
}

/** Why an instance did not answer. */
export function reasonOf(error: unknown): string {
  const { cause, rawMessage, message } = error as Error & { readonly rawMessage?: string };
  // Node.js says "aborted" of an answer that breaks off.
  if ((cause as NodeJS.ErrnoException | undefined)?.code === "ECONNRESET") return "the connection broke";
  return (rawMessage ?? message).slice(0, MAX_REASON);
}

function unasked(reason: string): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "INSTANCE_NOT_ASKED", reason);
}

/** The order in which instances are named. */
export function byInstance(one: { readonly instance: string }, other: { readonly instance: string }): number {
  return one.instance < other.instance ? -1 : 1;
}
