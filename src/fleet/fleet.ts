import { ActuatorError } from "../common/error.ts";
import { isReadableOnTheWay } from "../common/ip-address/loopback.ts";
import { checkOptions } from "../common/options.ts";
import type { Detach, LoggerAdapter, LoggerHost } from "../loggers/adapter.ts";
import type { LevelChange } from "../loggers/history.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { Delivery } from "./delivery.ts";
import { Instance } from "./instance.ts";
import { Mirror } from "./mirror.ts";
import { Notices } from "./notices.ts";
import { FLEET, type FleetInstance, type FleetOptions } from "./options.ts";
import { askedBy, type Ended, isWanted, type Wanted, wantedOf } from "./wanted.ts";

/** The loggers of other actuators, shown and set as one. */
export interface FleetLoggers extends LoggerAdapter {
  readonly kind: "fleet";
  /**
   * Begins: the instances are watched, and what is set on `loggers`, which this adapter is attached to, is set in each of them.
   * To be called once: `fleet.follow(actuator.loggers)`.
   */
  follow(loggers: Loggers): void;
  /** Ends: changes under way are waited for, then the connections are closed. The instances keep their levels. */
  close(): Promise<void>;
}

/** Where the state of the fleet as a whole is told. */
const ROOT = "ROOT";
/** For so long after a level ended here it may still be in force in instances, where it ends by itself. */
const QUIET_MS = 2_000;
/** For so long after a change an instance has time to say what it led to. */
const CORRECTION_MS = 300;

/**
 * The loggers of the actuators at these addresses. Each name is shown once, with the most verbose of the levels that are really
 * in effect. A level that is set here is set in every instance, and in those that come later or come back, once in each of their
 * processes; when it is cleared, restored or over here, so it is there. Setting answers before the instances have: a
 * warning tells what was not reached, refused or changed by an instance itself, for as long as that is so.
 *
 * What an instance changes by itself, or somebody there, is never undone. It is shown here, and spreads to no other instance.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit.
 */
export function fleetLoggers(options: FleetOptions): FleetLoggers {
  checkOptions("fleetLoggers", options, FLEET);
  if (options.instances === undefined) {
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", "fleetLoggers needs instances", {
      field: "instances",
    });
  }
  let host: LoggerHost | undefined;
  let fleet: Fleet | undefined;
  return {
    kind: "fleet",
    attach(given: LoggerHost): Detach {
      host = given;
      return () => fleet?.detach();
    },
    follow(loggers) {
      if (host === undefined || fleet !== undefined) {
        const message = "follow is called once, when the fleet is among the adapters of an actuator";
        throw new ActuatorError("FAILED_PRECONDITION", "FLEET_NOT_ATTACHED", message);
      }
      fleet = new Fleet(options, host, loggers);
      fleet.start();
    },
    close: async () => fleet?.close(),
  };
}

/** The instances, what is wanted of them, and what is shown of them. */
class Fleet {
  readonly #loggers: Loggers;
  readonly #notices: Notices;
  readonly #mirror: Mirror;
  readonly #deliveries = new Map<Instance, Delivery>();
  readonly #wanted = new Map<string, Wanted>();
  readonly #quiet = new Map<string, NodeJS.Timeout>();
  readonly #corrections = new Map<Instance, NodeJS.Timeout>();
  #unfollow: () => void = () => undefined;
  #detached = false;

  constructor(options: FleetOptions, host: LoggerHost, loggers: Loggers) {
    this.#loggers = loggers;
    this.#notices = new Notices(host);
    this.#mirror = new Mirror(host, loggers, this.#notices);
    const events = {
      found: (instance: Instance) => this.#found(instance),
      changed: (instance: Instance, names: readonly string[]) => this.#changed(instance, names),
      lost: (instance: Instance, reason: string) => this.#lost(instance, reason),
    };
    for (const each of options.instances) {
      const { url, token, name = url } = instanceOf(each, options.token);
      if (token !== undefined && isReadableOnTheWay(url)) {
        this.#notices.tell(ROOT, `cleartext ${url}`, `the token for ${name} goes there unencrypted: use https`);
      }
      const instance = new Instance(instanceOf(each, options.token), options, events);
      this.#deliveries.set(instance, new Delivery(instance, this.#notices, (...settled) => this.#settled(...settled)));
    }
  }

  start(): void {
    // Out of a state file, before anybody listened.
    for (const { name } of this.#loggers.list().loggers) this.#heed(name);
    this.#unfollow = this.#loggers.onChange((change) => this.#follow(change));
    for (const instance of this.#deliveries.keys()) instance.start();
  }

  /** The tree here is not to be told anything more. */
  detach(): void {
    this.#detached = true;
    this.#unfollow();
  }

  async close(): Promise<void> {
    this.detach();
    for (const timer of [...this.#quiet.values(), ...this.#corrections.values()]) clearTimeout(timer);
    await Promise.all(
      [...this.#deliveries].map(async ([instance, delivery]) => {
        await delivery.close();
        await instance.close();
      }),
    );
  }

  #follow(change: LevelChange): void {
    const { name } = change;
    // The members of a group are told of one by one.
    if (isGroup(this.#loggers, name)) return;
    const asked = askedBy(change);
    if (asked === undefined) return;
    if (isWanted(asked)) this.#wanted.set(name, asked);
    else this.#wanted.delete(name);
    if (change.kind === "EXPIRED") this.#hush(asked);
    for (const delivery of this.#deliveries.values()) delivery.ask(asked);
  }

  /** The instances end it by themselves at about the same time: what they say until then is no change of theirs. */
  #hush({ name }: Wanted | Ended): void {
    clearTimeout(this.#quiet.get(name));
    const speak = () => {
      this.#quiet.delete(name);
      this.#adopt(name);
    };
    this.#quiet.set(name, setTimeout(speak, QUIET_MS).unref());
  }

  #found(instance: Instance): void {
    if (this.#detached) return;
    this.#notices.tell(ROOT, `reach of ${instance.label}`, undefined);
    const names = [...instance.loggers.keys()];
    this.#mirror.show(instance, names);
    for (const name of names) {
      this.#heed(name);
      this.#adopt(name);
    }
    void this.#deliveries.get(instance)!.sync(this.#wanted.values());
  }

  #changed(instance: Instance, names: readonly string[]): void {
    if (this.#detached) return;
    this.#mirror.show(instance, names);
    for (const name of names) {
      this.#heed(name);
      this.#adopt(name);
    }
    this.#deliveries.get(instance)!.check(names);
  }

  #lost(instance: Instance, reason: string): void {
    if (this.#detached) return;
    const message = `${instance.label} is out of reach (${reason}): its loggers are not among these`;
    this.#notices.tell(ROOT, `reach of ${instance.label}`, message);
    const names = this.#mirror.hide(instance);
    for (const name of names) this.#adopt(name);
    this.#deliveries.get(instance)!.lost(this.#wanted.values());
  }

  #settled(instance: Instance, name: string): void {
    if (this.#detached) return;
    this.#adopt(name);
    this.#deliveries.get(instance)!.check([name]);
    if (this.#corrections.has(instance)) return;
    const correct = () => {
      this.#corrections.delete(instance);
      if (!this.#detached) this.#mirror.correct(instance);
    };
    this.#corrections.set(instance, setTimeout(correct, CORRECTION_MS).unref());
  }

  /** A logger that appears below the prefix of a group begins with the level of the group, and nobody tells of that. */
  #heed(name: string): void {
    if (this.#wanted.has(name)) return;
    const logger = this.#loggers.get(name);
    if (logger?.type !== "logger" || logger.override === undefined || logger.configuredLevel === undefined) return;
    const wanted = wantedOf(name, logger.configuredLevel, logger.override);
    this.#wanted.set(name, wanted);
    for (const delivery of this.#deliveries.values()) delivery.ask(wanted);
  }

  #adopt(name: string): void {
    if (this.#detached || this.#quiet.has(name)) return;
    for (const delivery of this.#deliveries.values()) if (delivery.isBusy(name)) return;
    this.#mirror.adopt(name);
  }
}

function isGroup(loggers: Loggers, name: string): boolean {
  const found = loggers.get(name);
  return found?.type === "group" && found.members.length > 0;
}

function instanceOf(instance: string | FleetInstance, token: string | undefined): FleetInstance {
  const own = typeof instance === "string" ? { url: instance } : instance;
  return { ...own, token: own.token ?? token };
}
