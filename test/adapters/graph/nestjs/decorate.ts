import "reflect-metadata";
import { Inject } from "@nestjs/common";

// biome-ignore lint/suspicious/noExplicitAny: any class.
type Class = new (...args: any[]) => any;

/** Decorates a class, its methods, and what is injected into its constructor, as decorators in its source would. */
export function decorate(
  type: Class,
  decorators: readonly ClassDecorator[],
  {
    inject = [],
    methods = {},
  }: { readonly inject?: readonly unknown[]; readonly methods?: { readonly [name: string]: readonly unknown[] } } = {},
): void {
  for (const [name, own] of Object.entries(methods)) {
    const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name)!;
    for (const decorator of own) (decorator as MethodDecorator)(type.prototype, name, descriptor);
  }
  for (const [index, token] of inject.entries()) Inject(token as never)(type, undefined, index);
  for (const decorator of decorators) decorator(type);
}
