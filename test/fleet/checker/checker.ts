import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type ConnectError, createClient } from "@connectrpc/connect";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { type Fault, FaultProxy } from "../../support/fault-proxy.ts";
import { Random } from "../../support/random.ts";
import { errorInfo, transportOver } from "../../support/rpc-harness.ts";
import { type Change, disorders, faultOf } from "./history.ts";

const CHILD = join(import.meta.dirname, "..", "instance-child.ts");
/** One for each writer. */
const NAMES = ["orders", "stock", "users", "payment", "mail", "search"];
const LEVELS = { fatal: Level.FATAL, error: Level.ERROR, warn: Level.WARN, debug: Level.DEBUG, trace: Level.TRACE };
/** DEBUG and TRACE always have an end here. */
const LASTING = ["fatal", "error", "warn"] as const;
const FAULTS: readonly Fault[] = ["latency", "half-open", "frozen", "cut"];
const ALL = Object.keys(LEVELS) as readonly (keyof typeof LEVELS)[];
const IN_TIME = { timeoutMs: 15_000 };
const SETTLED_WITHIN_MS = 40_000;

/** The engine's server, which keeps what it acknowledged when it is killed. */
export interface CheckedServer {
  readonly host: string;
  readonly port: number;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** What is checked, and how. */
export interface CheckOptions {
  readonly server: CheckedServer;
  /** The engine at the port of a proxy. */
  readonly urlAt: (port: number) => string;
  readonly instances: number;
  /** How long faults are made. */
  readonly seconds: number;
  readonly seed: number;
}

/** What was found. */
export interface Checked {
  readonly acknowledged: number;
  readonly unknown: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly settledMs: number;
  readonly violations: readonly string[];
}

/** An instance in a process of its own, whose engine is behind a proxy. */
class Instance {
  readonly id: string;
  readonly zone: string;
  readonly proxy: FaultProxy;
  readonly #url: string;
  process: ChildProcess;
  address = "";
  levels = "";

  constructor(number: number, proxy: FaultProxy, url: string) {
    this.id = `i${number}`;
    this.zone = number % 2 === 0 ? "even" : "odd";
    this.proxy = proxy;
    this.#url = url;
    this.process = this.#start();
  }

  get isReady(): boolean {
    return this.address !== "";
  }

  async restart(afterMs: number): Promise<void> {
    this.address = "";
    const exit = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await exit;
    await delay(afterMs);
    this.levels = "";
    this.process = this.#start();
  }

  #start(): ChildProcess {
    const child = fork(CHILD, [this.id, this.#url, NAMES.join(",")], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.on("message", (message: { address?: string; levels?: string }) => Object.assign(this, message));
    return child;
  }
}

/** Changes a fleet's levels while its network, its processes and its engine fail, and checks what all have afterwards. */
export async function checkFleet({ server, urlAt, instances: count, seconds, seed }: CheckOptions): Promise<Checked> {
  const numbers = new Random(seed);
  const random = () => numbers.next();
  const pick = <T>(all: readonly T[]): T => numbers.pick(all);
  const instances = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const proxy = new FaultProxy(server);
      return new Instance(number, proxy, urlAt(await proxy.listen()));
    }),
  );
  const changes: Change[] = [];
  const faults: Record<string, number> = {};
  const healing: Promise<unknown>[] = [];
  let isOver = false;

  async function write(name: string): Promise<void> {
    while (!isOver) {
      await delay(20 + random() * 150);
      const through = instances.filter(({ isReady }) => isReady);
      if (through.length > 0) await change(name, pick(through).address);
    }
  }

  async function change(name: string, address: string): Promise<void> {
    const life = pick(["lasting", "lasting", "short", "long"] as const);
    const level = random() < 0.25 ? undefined : pick(life === "lasting" ? LASTING : ALL);
    const selector = pick(["", "", "zone=odd", "zone=even"]);
    const loggers = createClient(LoggersService, transportOver({ protocol: "gRPC-Web", httpVersion: "1.1" }, address));
    const asked: Change = { name, selector, level, life, began: performance.now() };
    const request = { name, scope: Scope.FLEET, fleet: { selector } };
    const ttl =
      life === "lasting" ? {} : { ttl: durationFromMs(life === "short" ? 500 + random() * 2_000 : 3_600_000) };
    try {
      const { generation } =
        level === undefined
          ? await loggers.clearLoggerLevel(request, IN_TIME)
          : await loggers.setLoggerLevel({ ...request, ...ttl, level: LEVELS[level] }, IN_TIME);
      asked.generation = Number(generation);
      asked.ended = performance.now();
      changes.push(asked);
    } catch (error) {
      // The engine was not asked: it did not happen.
      if (errorInfo(error as ConnectError)?.reason !== "FLEET_ENGINE_UNAVAILABLE") changes.push(asked);
    }
  }

  async function disturb(): Promise<void> {
    let engineAt = performance.now() + 3_000;
    while (!isOver) {
      await delay(300 + random() * 700);
      const instance = pick(instances);
      const kinds = ["kill", "stop", ...FAULTS] as const;
      if (performance.now() > engineAt) {
        engineAt = performance.now() + 6_000;
        noted("engine");
        await server.kill();
        await delay(random() * 2_000);
        await server.restart();
        continue;
      }
      const kind = pick(kinds);
      noted(kind);
      const forMs = 500 + random() * 5_000;
      if (kind === "kill") {
        if (instance.isReady) healing.push(instance.restart(forMs / 4));
      } else if (kind === "stop") {
        const { process } = instance;
        process.kill("SIGSTOP");
        healing.push(delay(forMs).then(() => process.kill("SIGCONT")));
      } else {
        instance.proxy.fault = kind;
        healing.push(
          delay(forMs).then(() => {
            instance.proxy.fault = "pass";
          }),
        );
      }
    }
  }

  const noted = (kind: string) => {
    faults[kind] = (faults[kind] ?? 0) + 1;
  };

  try {
    while (!instances.every(({ isReady, levels }) => isReady && levels !== "")) await delay(50);
    const work = [...NAMES.map(write), disturb()];
    await delay(seconds * 1_000);
    isOver = true;
    await Promise.all(work);
    await Promise.all(healing);
    for (const { proxy } of instances) proxy.fault = "pass";
    // No writer is left that would bring along what the engine may have lost, and a new instance knows only what the engine has.
    await server.kill();
    await server.restart();
    await delay(3_000);
    await instances[0]!.restart(0);
    const quiet = performance.now();
    let violations: readonly string[];
    do {
      await delay(200);
      violations = NAMES.flatMap((name, at) => {
        const levels = instances.map(({ zone, levels }) => ({ zone, level: levels.split(" ")[at] ?? "?" }));
        return (
          faultOf(
            changes.filter((each) => each.name === name),
            levels,
          ) ?? []
        );
      });
      // Short levels end first.
    } while (
      performance.now() < quiet + 3_000 ||
      (violations.length > 0 && performance.now() < quiet + SETTLED_WITHIN_MS)
    );
    const acknowledged = changes.filter(({ ended }) => ended !== undefined).length;
    return {
      acknowledged,
      unknown: changes.length - acknowledged,
      faults,
      settledMs: performance.now() - quiet,
      violations: [...violations, ...disorders(changes)],
    };
  } finally {
    isOver = true;
    for (const { process, proxy } of instances) {
      process.kill("SIGKILL");
      proxy.close();
    }
  }
}
