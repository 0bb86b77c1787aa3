/** Whether a logger is the one that `prefix` names, or below it: `orders` holds `orders.payment` and not `ordersarchive`. */
export function loggerPrefixHolds(prefix: string, name: string): boolean {
  return name === prefix || name.startsWith(`${prefix}.`);
}
