import { type ActuatorOptions, createActuator, type ListenOptions } from "../../index.ts";

/** The token under which a NestJS application injects its actuator: `@Inject(ACTUATOR) actuator: Actuator`. */
export const ACTUATOR = "connect-actuator";
const LIFE = `${ACTUATOR}:life`;

/** The options of {@link ActuatorModule}: those of `createActuator`, and where to listen. */
export interface ActuatorModuleOptions extends ActuatorOptions {
  /**
   * The actuator's own port, opened when the application has started. Left out: no port; mount it with
   * `app.use(app.get(ACTUATOR).handler)`, which answers only health without `access`.
   */
  readonly listen?: ListenOptions | undefined;
}

/** The options of {@link ActuatorModule.forRootAsync}, as NestJS names them. */
export interface ActuatorModuleAsyncOptions {
  /** The modules whose providers are injected. */
  // biome-ignore lint/suspicious/noExplicitAny: NestJS's own types say no more.
  readonly imports?: any[];
  /** The tokens of what `useFactory` is called with. */
  // biome-ignore lint/suspicious/noExplicitAny: NestJS's own types say no more.
  readonly inject?: any[];
  /** Returns the options, or a promise of them. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever `inject` names.
  useFactory(...dependencies: any[]): ActuatorModuleOptions | Promise<ActuatorModuleOptions>;
}

/** A global dynamic module that provides {@link ACTUATOR}; assignable to the `DynamicModule` of NestJS 10, 11 and 12. */
export interface ActuatorDynamicModule {
  readonly module: typeof ActuatorModule;
  readonly global: true;
  // biome-ignore lint/suspicious/noExplicitAny: NestJS's own types say no more.
  readonly imports: any[];
  // biome-ignore lint/suspicious/noExplicitAny: NestJS's own types say no more.
  readonly providers: any[];
  readonly exports: string[];
}

/**
 * The actuator as a module of NestJS. It listens when the application has started, and drains in the application's shutdown:
 * call `app.enableShutdownHooks()`, so that SIGTERM reaches it.
 */
export class ActuatorModule {
  /**
   * Creates the module from fixed options.
   *
   * @throws ActuatorError INVALID_ARGUMENT, when the application starts, for options that `createActuator` refuses.
   * @example
   * ```ts
   * import { ConsoleLogger, Logger, Module } from "@nestjs/common";
   * import { ActuatorModule, nestjsLoggers } from "connect-actuator/nestjs";
   *
   * @Module({
   *   imports: [
   *     ActuatorModule.forRoot({
   *       loggers: { adapters: [nestjsLoggers({ Logger, ConsoleLogger })] },
   *       listen: { port: 9001 },
   *     }),
   *   ],
   * })
   * export class AppModule {}
   * ```
   */
  static forRoot(options: ActuatorModuleOptions = {}): ActuatorDynamicModule {
    return ActuatorModule.forRootAsync({ useFactory: () => options });
  }

  /**
   * Creates the module from options that need other providers, such as a configuration service or a session store.
   *
   * @throws ActuatorError INVALID_ARGUMENT, when the application starts, for options that `createActuator` refuses.
   * @example
   * ```ts
   * import { ConsoleLogger, Logger } from "@nestjs/common";
   * import { ActuatorModule, nestjsLoggers } from "connect-actuator/nestjs";
   *
   * ActuatorModule.forRootAsync({
   *   inject: ["PORT"],
   *   useFactory: (port: number) => ({
   *     loggers: { adapters: [nestjsLoggers({ Logger, ConsoleLogger })] },
   *     listen: { port },
   *   }),
   * });
   * ```
   */
  static forRootAsync(options: ActuatorModuleAsyncOptions): ActuatorDynamicModule {
    return {
      module: ActuatorModule,
      global: true,
      imports: options.imports ?? [],
      providers: [
        { provide: LIFE, useFactory: lifeOf(options), inject: options.inject ?? [] },
        { provide: ACTUATOR, useFactory: ({ actuator }: ActuatorLife) => actuator, inject: [LIFE] },
      ],
      exports: [ACTUATOR],
    };
  }
}

function lifeOf({ useFactory }: ActuatorModuleAsyncOptions): (...dependencies: unknown[]) => Promise<ActuatorLife> {
  return async (...dependencies) => {
    const { listen, ...options } = await useFactory(...dependencies);
    return new ActuatorLife(options, listen);
  };
}

/** The actuator with the lifecycle hooks that NestJS calls on a provider. */
class ActuatorLife {
  readonly actuator;
  readonly #listen: ListenOptions | undefined;

  constructor(options: ActuatorOptions, listen: ListenOptions | undefined) {
    this.actuator = createActuator(options);
    this.#listen = listen;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.#listen !== undefined) await this.actuator.listen(this.#listen);
  }

  /** Before the application closes its own connections, so that readiness turns while it still answers. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.actuator.close();
  }
}
