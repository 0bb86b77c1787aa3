/** The list is swept for collected elements when it first reaches this length. */
const FIRST_SWEEP = 1_000;

/** A set of objects that can be iterated and does not keep them alive: a logger made for one request goes when the request does. */
export class WeakList<Element extends object> {
  #known = new WeakSet<Element>();
  #references: WeakRef<Element>[] = [];
  #nextSweep = FIRST_SWEEP;

  has(element: Element): boolean {
    return this.#known.has(element);
  }

  /** Does nothing if the list already contains the element. */
  add(element: Element): void {
    if (this.#known.has(element)) return;
    this.#known.add(element);
    if (this.#references.push(new WeakRef(element)) < this.#nextSweep) return;
    this.#references = this.#references.filter((reference) => reference.deref() !== undefined);
    this.#nextSweep = Math.max(FIRST_SWEEP, 2 * this.#references.length);
  }

  clear(): void {
    this.#known = new WeakSet();
    this.#references = [];
    this.#nextSweep = FIRST_SWEEP;
  }

  *[Symbol.iterator](): Generator<Element> {
    for (const reference of this.#references) {
      const element = reference.deref();
      if (element !== undefined) yield element;
    }
  }
}
