/** A line of an order: a product and its quantity. */
export interface Line {
  readonly product: string;
  readonly quantity: number;
}

/** The price of each product, in cents. */
export const PRICES: Readonly<Record<string, number>> = { apple: 40, pear: 55, quince: 120, walnut: 15 };

const SHELF = 60;

/** The goods on the shelves. */
export class Stock {
  readonly #quantities = new Map(Object.keys(PRICES).map((product) => [product, SHELF]));

  /** Takes all lines, or none if one of them is out of stock. */
  take(lines: readonly Line[]): boolean {
    if (lines.some(({ product, quantity }) => this.quantity(product) < quantity)) return false;
    for (const { product, quantity } of lines) this.#quantities.set(product, this.quantity(product) - quantity);
    return true;
  }

  /** Fills the shelf of the product and returns how many were added. */
  fill(product: string): number {
    const delivered = SHELF - this.quantity(product);
    this.#quantities.set(product, SHELF);
    return delivered;
  }

  /** The product with the lowest quantity. */
  get scarcest(): string {
    return [...this.#quantities].reduce((least, entry) => (entry[1] < least[1] ? entry : least))[0];
  }

  quantity(product: string): number {
    return this.#quantities.get(product) ?? 0;
  }
}
