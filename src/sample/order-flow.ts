import { setTimeout as delay } from "node:timers/promises";
import { integrationGraph } from "../index.ts";
import { logger } from "./loggers.ts";
import { type Line, PRICES, Stock } from "./stock.ts";

/** The order of a customer. */
export interface Order {
  readonly number: number;
  readonly customer: string;
  readonly lines: readonly Line[];
  readonly express: boolean;
}

interface Parcel {
  readonly order: Order;
  readonly lines: readonly Line[];
}

type PackedLine = Line & { readonly order: Order };

const log = {
  orders: logger("shop.orders"),
  stock: logger("shop.orders.stock"),
  payment: logger("shop.orders.payment"),
  delivery: logger("shop.orders.delivery"),
  packing: logger("shop.orders.packing"),
  failures: logger("shop.orders.failures"),
};

const stock = new Stock();
let orders = 0;

/**
 * The path of every order. Each endpoint is declared beside its function: the channels that it reads and sends to. Calls are
 * measured from then on.
 */
export const flow = integrationGraph({ app: "shop" });

const incoming = flow.channel("orders");
const accepted = flow.executorChannel("accepted-orders");
const rejected = flow.channel("rejected-orders");
const paid = flow.executorChannel("paid-orders");
const express = flow.executorChannel("express-orders");
const standard = flow.executorChannel("standard-orders");
const lines = flow.channel("order-lines");
const parcels = flow.executorChannel("parcels");
const deliveries = flow.executorChannel("deliveries");
const failures = flow.publishSubscribeChannel("failures");

const reportFailure = flow
  .serviceActivator("failure-report", { input: failures })
  .handle(({ order, error }: { order: Order; error: unknown }) => {
    log.failures.warn({ order: order.number, reason: (error as Error).message }, "order failed");
  });
const toFailures = failures.sender(reportFailure);

const send = flow.outboundChannelAdapter("post-office", { input: parcels }).handle(async ({ order, lines }: Parcel) => {
  await delay(5);
  log.delivery.debug({ order: order.number, lines: lines.length }, "parcel sent");
});
const toParcels = parcels.sender(apart(send));

const packing = new Map<number, PackedLine[]>();
const pack = flow.aggregator("packing", { input: lines, output: parcels }).handle((line: PackedLine) => {
  const { order } = line;
  const packed = [...(packing.get(order.number) ?? []), line];
  packing.set(order.number, packed);
  log.packing.trace({ order: order.number, product: line.product }, "line packed");
  if (packed.length < order.lines.length) return;
  packing.delete(order.number);
  log.packing.debug({ order: order.number }, "order packed");
  toParcels({ order, lines: packed });
});
const toLines = lines.sender(pack);

const split = flow.splitter("order-splitter", { input: standard, output: lines }).handle((order: Order) => {
  for (const line of order.lines) toLines({ ...line, order });
});
const toStandard = standard.sender(apart(split));

const hurry = flow.outboundChannelAdapter("courier", { input: express }).handle(async (order: Order) => {
  await delay(2);
  log.delivery.debug({ order: order.number }, "courier sent");
});
const toExpress = express.sender(apart(hurry));

const route = flow.router("delivery", { input: paid, routes: { express, standard } }).handle((order: Order) => {
  log.delivery.trace({ order: order.number, express: order.express }, "delivery chosen");
  (order.express ? toExpress : toStandard)(order);
});
const toPaid = paid.sender(apart(route));

const pay = flow
  .serviceActivator("payment", { input: accepted, output: paid, error: failures })
  .handle(async (order: Order) => {
    const cents = order.lines.reduce((sum, { product, quantity }) => sum + quantity * (PRICES[product] ?? 0), 0);
    await delay(cents % 30);
    log.payment.debug({ order: order.number, cents }, "payment requested");
    if (order.number % 25 === 0) {
      const error = new Error("the card was declined");
      toFailures({ order, error });
      throw error;
    }
    toPaid(order);
  });
const toAccepted = accepted.sender(apart(pay));

const apologise = flow.serviceActivator("apology", { input: rejected }).handle((order: Order) => {
  log.orders.debug({ order: order.number, customer: order.customer }, "order rejected: out of stock");
});
const toRejected = rejected.sender(apologise);

const inStock = flow
  .filter("in-stock", { input: incoming, output: accepted, discard: rejected })
  .handle((order: Order) => {
    const taken = stock.take(order.lines);
    log.stock.trace({ order: order.number, taken }, "stock checked");
    (taken ? toAccepted : toRejected)(order);
    return taken;
  });
const toOrders = incoming.sender(inStock);

/** The entry of the flow: takes an order and returns whether everything is in stock. */
export const placeOrder = flow
  .gateway("checkout", { output: incoming })
  .handle((customer: string, lines: readonly Line[], express: boolean): { number: number; accepted: boolean } => {
    const order = { number: ++orders, customer, lines, express };
    log.orders.debug({ order: order.number, customer, lines: lines.length, express }, "order received");
    return { number: order.number, accepted: toOrders(order) };
  });

const store = flow.serviceActivator("store-room", { input: deliveries }).handle((product: string) => {
  log.stock.debug({ product, delivered: stock.fill(product) }, "shelf filled");
});
const toDeliveries = deliveries.sender(apart(store));

/** The other entry: a supplier that delivers the scarcest product, or nothing if the shelves are full enough. */
export const restock = flow
  .inboundChannelAdapter("supplier", { output: deliveries, componentType: "supplier" })
  .receiver((): string | null => {
    const product = stock.scarcest;
    if (stock.quantity(product) > 5) return null;
    toDeliveries(product);
    return product;
  });

/** Runs the handler outside the call of the sender, as an executor channel does. Its failure has been reported by then. */
function apart<M>(handle: (message: M) => unknown): (message: M) => void {
  return (message) => {
    setImmediate(async () => {
      try {
        await handle(message);
      } catch (error) {
        log.failures.debug({ reason: (error as Error).message }, "message dropped");
      }
    });
  };
}
