import type { NestApplication, nestjsSource } from "../../adapters/graph/nestjs/index.ts";
import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";
import { replaceInPlace } from "../sighting.ts";

/** What the two files export. */
interface NestCore {
  readonly NestFactoryStatic?: { readonly prototype: object };
  readonly NestApplicationContext?: { readonly prototype: object };
}

/** The applications that are shown, each with where, and what takes it out. */
const shown = new WeakMap<object, { readonly findings: Findings; readonly undo: Undo }>();

/**
 * Applications and microservices of NestJS are shown when their factory has made them, before they take their handlers, until they are
 * closed. What NestJS has taken before is found only in the heap, and some of it does not count then.
 */
export const nestjsMessaging: Library = {
  watch(exports, findings) {
    const { NestFactoryStatic, NestApplicationContext } = exports as NestCore;
    return undoing([
      watchFactory(NestFactoryStatic?.prototype, findings),
      watchClose(NestApplicationContext?.prototype),
    ]);
  },
  inHeap: {
    classes: {
      NestFactoryStatic: ["createApplicationContext", "createNestInstance"],
      NestApplicationContext: ["enableShutdownHooks", "registerRequestByContextId", "useLogger"],
    },
  },
  recognize(object, findings) {
    if (!("container" in object)) return false;
    show(object, findings);
    return true;
  },
};

function watchFactory(prototype: object | undefined, findings: Findings): Undo {
  if (prototype === undefined) return () => {};
  return replaceInPlace(prototype, "createNestInstance", (method, isLive) => {
    return function (this: object, ...args: unknown[]): unknown {
      if (isLive()) findings.carefully(() => show(args[0] as object, findings));
      return Reflect.apply(method, this, args);
    };
  });
}

function show(application: object, findings: Findings): void {
  if (shown.get(application)?.findings === findings) return;
  const nestjs = part<{ nestjsSource: typeof nestjsSource }>("adapters/graph/nestjs/index");
  shown.set(application, { findings, undo: findings.messaging(nestjs.nestjsSource(application as NestApplication)) });
}

function watchClose(prototype: object | undefined): Undo {
  if (prototype === undefined) return () => {};
  return replaceInPlace(prototype, "close", (method) => {
    return async function (this: object, ...args: unknown[]): Promise<unknown> {
      try {
        return await Reflect.apply(method, this, args);
      } finally {
        shown.get(this)?.undo();
        shown.delete(this);
      }
    };
  });
}
