/** What an order asks for: a product and how many of it. */
export interface Line {
  readonly product: string;
  readonly quantity: number;
}

/** What one product costs, in cents. */
export const PRICES: Readonly<Record<string, number>> = { apple: 40, pear: 55, quince: 120, walnut: 15 };

const SHELF = 60;

/** The goods on the shelves. */
export class Stock {
  readonly #quantities = new Map(Object.keys(PRICES).map((product) => [product, SHELF]));

  /** Takes all lines or, where one cannot be had, none. */
  take(lines: readonly Line[]): boolean {
    if (lines.some(({ product, quantity }) => this.quantity(product) < quantity)) return false;
    for (const { product, quantity } of lines) this.#quantities.set(product, this.quantity(product) - quantity);
    return true;
  }

  /** Fills the shelves of the product up. Returns how many came. */
  fill(product: string): number {
    const delivered = SHELF - this.quantity(product);
    this.#quantities.set(product, SHELF);
    return delivered;
  }

  /** The product that is scarcest. */
  get scarcest(): string {
    return [...this.#quantities].reduce((least, entry) => (entry[1] < least[1] ? entry : least))[0];
  }

  quantity(product: string): number {
    return this.#quantities.get(product) ?? 0;
  }
}
