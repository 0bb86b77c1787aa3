import { ActuatorError } from "../common/error.ts";
import { isReadableOnTheWay } from "../common/ip-address.ts";
import { checkOptions } from "../common/options.ts";
import type { Detach, LoggerAdapter, LoggerHost } from "../loggers/adapter.ts";
import type { LevelChange } from "../loggers/history.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { Instance } from "./instance.ts";
import { InstanceSync } from "./instance-sync.ts";
import { LoggerMirror } from "./logger-mirror.ts";
import { FLEET, type FleetInstance, type FleetOptions } from "./options.ts";
import { isWanted, requestedBy, type WantedLevel, wantedLevel } from "./wanted-level.ts";
import { Warnings } from "./warnings.ts";

export type { FleetInstance, FleetOptions } from "./options.ts";

/** A logger adapter whose loggers are those of other actuators. */
export interface FleetLoggers extends LoggerAdapter {
  readonly kind: "fleet";
  /**
   * Starts watching the instances, and sets in each of them what is set on `loggers`. Call it once, with the loggers of the actuator
   * that has this adapter.
   *
   * @throws ActuatorError FAILED_PRECONDITION if this adapter is not attached to an actuator, or was started before.
   */
  follow(loggers: Loggers): void;
  /** Waits for changes on their way, then closes the connections. The instances keep their levels. */
  close(): Promise<void>;
}

/** The logger with the warnings about the fleet as a whole. */
const ROOT = "ROOT";
/** How long after its end here a level may still be in force in instances, where it expires by itself. */
const ECHO_MS = 2_000;
/** How long after a change an instance has time to report the outcome. */
const CORRECTION_MS = 300;

/**
 * Creates a logger adapter for the loggers of other actuators. Each name is shown once, with the most verbose of the effective levels.
 * A level that is set here is set in every instance, also in those that become reachable later, once in each of their processes.
 * When it is cleared or restored here, or expires, it ends there, too. Setting a level does not wait for the instances: while one of
 * them is unreachable, has refused the level or has changed it since, the logger has a warning.
 *
 * A level that is changed in an instance is never changed back. It is shown here, and does not spread to other instances.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unknown option or an invalid value.
 * @example
 * const fleet = fleetLoggers({ instances: ["http://10.0.0.7:9001", "http://10.0.0.8:9001"] });
 * const actuator = createActuator({ loggers: { adapters: [fleet] } });
 * await actuator.listen({ port: 9001 });
 * fleet.follow(actuator.loggers!);
 */
export function fleetLoggers(options: FleetOptions): FleetLoggers {
  checkOptions("fleetLoggers", options, FLEET);
  if (options.instances === undefined) {
    throw new ActuatorError(
      "INVALID_ARGUMENT",
      "INVALID_OPTION",
      'fleetLoggers.instances must be a list of addresses, such as ["http://10.0.0.7:9001"]',
      {
        field: "instances",
      },
    );
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
        const message = "fleetLoggers().follow must be called once, after the adapter was passed to createActuator";
        throw new ActuatorError("FAILED_PRECONDITION", "FLEET_NOT_ATTACHED", message);
      }
      fleet = new Fleet(options, host, loggers);
      fleet.start();
    },
    close: async () => fleet?.close(),
  };
}

/** The instances, the levels wanted in them, and their loggers in the tree here. */
class Fleet {
  readonly #loggers: Loggers;
  readonly #warnings: Warnings;
  readonly #mirror: LoggerMirror;
  readonly #syncs = new Map<Instance, InstanceSync>();
  readonly #wanted = new Map<string, WantedLevel>();
  /** Loggers of which news are ignored for a while, see {@link #ignoreEcho}. */
  readonly #echoes = new Map<string, NodeJS.Timeout>();
  readonly #corrections = new Map<Instance, NodeJS.Timeout>();
  #unfollow: () => void = () => undefined;
  #detached = false;

  constructor(options: FleetOptions, host: LoggerHost, loggers: Loggers) {
    this.#loggers = loggers;
    this.#warnings = new Warnings(host);
    this.#mirror = new LoggerMirror(host, loggers, this.#warnings);
    const events = {
      found: (instance: Instance) => this.#found(instance),
      changed: (instance: Instance, names: readonly string[]) => this.#changed(instance, names),
      lost: (instance: Instance, reason: string) => this.#lost(instance, reason),
    };
    for (const each of options.instances) {
      const described = instanceOf(each, options.token);
      const { url, token } = described;
      const instance = new Instance(described, options, events);
      if (token !== undefined && isReadableOnTheWay(url)) {
        const message = `the token for ${instance.label} is sent unencrypted: use https`;
        this.#warnings.set(ROOT, `cleartext ${url}`, message);
      }
      this.#syncs.set(instance, new InstanceSync(instance, this.#warnings, (...settled) => this.#settled(...settled)));
    }
  }

  start(): void {
    // Levels from the state file, which were set before this adapter listened.
    for (const { name } of this.#loggers.list().loggers) this.#applyGroupLevel(name);
    this.#unfollow = this.#loggers.onChange((change) => this.#follow(change));
    for (const instance of this.#syncs.keys()) instance.start();
  }

  /** Stops changing the tree here. */
  detach(): void {
    this.#detached = true;
    this.#unfollow();
  }

  async close(): Promise<void> {
    this.detach();
    for (const timer of [...this.#echoes.values(), ...this.#corrections.values()]) clearTimeout(timer);
    await Promise.all(
      [...this.#syncs].map(async ([instance, sync]) => {
        await sync.close();
        await instance.close();
      }),
    );
  }

  #follow(change: LevelChange): void {
    const { name } = change;
    // The members of a group have changes of their own.
    if (isGroup(this.#loggers, name)) return;
    const requested = requestedBy(change);
    if (requested === undefined) return;
    if (isWanted(requested)) this.#wanted.set(name, requested);
    else this.#wanted.delete(name);
    if (change.kind === "EXPIRED") this.#ignoreEcho(name);
    for (const sync of this.#syncs.values()) sync.request(requested);
  }

  /** A level expires in the instances at about the same time: what they report until then is not a change of their own. */
  #ignoreEcho(name: string): void {
    clearTimeout(this.#echoes.get(name));
    const listen = () => {
      this.#echoes.delete(name);
      this.#adopt(name);
    };
    this.#echoes.set(name, setTimeout(listen, ECHO_MS).unref());
  }

  #found(instance: Instance): void {
    if (this.#detached) return;
    this.#warnings.clear(ROOT, `reach of ${instance.label}`);
    this.#show(instance, [...instance.loggers.keys()]);
    void this.#syncs.get(instance)!.sync(this.#wanted.values());
  }

  #changed(instance: Instance, names: readonly string[]): void {
    if (this.#detached) return;
    this.#show(instance, names);
    this.#syncs.get(instance)!.check(names);
  }

  #show(instance: Instance, names: readonly string[]): void {
    this.#mirror.show(instance, names);
    for (const name of names) {
      this.#applyGroupLevel(name);
      this.#adopt(name);
    }
  }

  #lost(instance: Instance, reason: string): void {
    if (this.#detached) return;
    const message = `${instance.label} is unreachable (${reason}): its loggers are not shown`;
    this.#warnings.set(ROOT, `reach of ${instance.label}`, message);
    const names = this.#mirror.hide(instance);
    for (const name of names) this.#adopt(name);
    this.#syncs.get(instance)!.lost(this.#wanted.values());
  }

  #settled(instance: Instance, name: string): void {
    if (this.#detached) return;
    this.#adopt(name);
    this.#syncs.get(instance)!.check([name]);
    if (this.#corrections.has(instance)) return;
    const correct = () => {
      this.#corrections.delete(instance);
      if (!this.#detached) this.#mirror.correct(instance);
    };
    this.#corrections.set(instance, setTimeout(correct, CORRECTION_MS).unref());
  }

  /** A logger that appears below the prefix of a group has the level of the group from the start, without a change. */
  #applyGroupLevel(name: string): void {
    if (this.#wanted.has(name)) return;
    const logger = this.#loggers.get(name);
    if (logger?.type !== "logger" || logger.override === undefined || logger.configuredLevel === undefined) return;
    const wanted = wantedLevel(name, logger.configuredLevel, logger.override);
    this.#wanted.set(name, wanted);
    for (const sync of this.#syncs.values()) sync.request(wanted);
  }

  #adopt(name: string): void {
    if (this.#detached || this.#echoes.has(name)) return;
    for (const sync of this.#syncs.values()) if (sync.isBusy(name)) return;
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
