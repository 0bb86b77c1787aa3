import {
  Controller,
  type DynamicModule,
  Get,
  HttpException,
  Injectable,
  Module,
  Param,
  Post,
  Scope,
  UseInterceptors,
} from "@nestjs/common";
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  type ICommandHandler,
  QueryBus,
  QueryHandler,
  Saga,
} from "@nestjs/cqrs";
import { EventEmitter2, EventEmitterModule, OnEvent } from "@nestjs/event-emitter";
import {
  type ClientProxy,
  ClientsModule,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
} from "@nestjs/microservices";
import { Cron, Interval, ScheduleModule, Timeout } from "@nestjs/schedule";
import { delay, filter, map, type Observable } from "rxjs";
import { decorate } from "./decorate.ts";

export class PlaceOrder {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}
export class ShipOrder extends PlaceOrder {}
export class RemindOrder extends PlaceOrder {}
export class GetOrders extends PlaceOrder {}
export class OrderPlaced extends PlaceOrder {}
export class OrderAudited extends PlaceOrder {}

/** What happened, so that a test can wait for the end. */
export class Journal {
  readonly #entries: string[] = [];

  write(entry: string): void {
    this.#entries.push(entry);
  }

  count(entry: string): number {
    return this.#entries.filter((one) => one === entry).length;
  }
}

class OrdersController {
  readonly #commands: CommandBus;
  readonly #queries: QueryBus;
  readonly #warehouse: ClientProxy;

  constructor(commands: CommandBus, queries: QueryBus, warehouse: ClientProxy) {
    this.#commands = commands;
    this.#queries = queries;
    this.#warehouse = warehouse;
  }

  async place(id: string) {
    await this.#commands.execute(new PlaceOrder(id));
    return { id };
  }

  list(id: string) {
    return this.#queries.execute(new GetOrders(id));
  }

  /** Nest subscribes to what comes back, when this has returned. */
  stock(id: string): Observable<unknown> {
    return this.#warehouse.send("stock", id);
  }
}
decorate(OrdersController, [Controller("orders")], {
  inject: [CommandBus, QueryBus, "WAREHOUSE"],
  methods: { place: [Post(":id")], list: [Get(":id")], stock: [Get(["stock/:id", "store/:id"])] },
});
for (const name of ["place", "list", "stock"]) Param("id")(OrdersController.prototype, name, 0);

class HealthController {
  health() {
    return "well";
  }
}
decorate(HealthController, [Controller()], { methods: { health: [Get("health")] } });

class PlaceOrderHandler implements ICommandHandler<PlaceOrder> {
  readonly #events: EventBus;
  readonly #warehouse: ClientProxy;

  constructor(events: EventBus, warehouse: ClientProxy) {
    this.#events = events;
    this.#warehouse = warehouse;
  }

  async execute({ id }: PlaceOrder) {
    await Promise.resolve();
    if (id === "bad") throw new HttpException("no such article", 400);
    this.#events.publish(new OrderPlaced(id));
    this.#warehouse.emit("order.placed", id);
  }
}
decorate(PlaceOrderHandler, [CommandHandler(PlaceOrder)], { inject: [EventBus, "WAREHOUSE"] });

class ShipOrderHandler {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async execute() {
    this.#journal.write("shipped");
  }
}
decorate(ShipOrderHandler, [CommandHandler(ShipOrder)], { inject: [Journal] });

class RemindOrderHandler {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async execute() {
    this.#journal.write("reminded");
  }
}
decorate(RemindOrderHandler, [CommandHandler(RemindOrder)], { inject: [Journal] });

class GetOrdersHandler {
  async execute({ id }: GetOrders) {
    return [id];
  }
}
decorate(GetOrdersHandler, [QueryHandler(GetOrders)]);

class OrderPlacedHandler {
  readonly #emitter: EventEmitter2;

  constructor(emitter: EventEmitter2) {
    this.#emitter = emitter;
  }

  handle(event: OrderPlaced | OrderAudited) {
    if (event instanceof OrderPlaced) this.#emitter.emit("order.placed", event.id);
  }
}
decorate(OrderPlacedHandler, [EventsHandler(OrderPlaced, OrderAudited)], { inject: [EventEmitter2] });

class ShippingSagas {
  ship(events: Observable<unknown>) {
    return events.pipe(
      filter((event) => event instanceof OrderPlaced),
      map((event) => new ShipOrder(event.id)),
    );
  }

  remind(events: Observable<unknown>) {
    return events.pipe(
      filter((event) => event instanceof OrderPlaced),
      delay(1),
      map((event) => new RemindOrder(event.id)),
    );
  }
}
decorate(ShippingSagas, [Injectable()]);
for (const name of ["ship", "remind"]) Saga()(ShippingSagas.prototype, name);

class Listeners {
  readonly #events: EventBus;
  readonly #journal: Journal;

  constructor(events: EventBus, journal: Journal) {
    this.#events = events;
    this.#journal = journal;
  }

  async placed(id: string) {
    await Promise.resolve();
    this.#events.publishAll([new OrderAudited(id), new OrderAudited(id)]);
    this.#events.publish(new OrderAudited(id));
    this.#journal.write("audited");
  }

  any() {
    throw new Error("not my day");
  }
}
decorate(Listeners, [Injectable()], {
  inject: [EventBus, Journal],
  methods: { placed: [OnEvent("order.billed"), OnEvent("order.placed")], any: [OnEvent("order.*")] },
});

class Jobs {
  readonly #emitter: EventEmitter2;
  readonly #journal: Journal;

  constructor(emitter: EventEmitter2, journal: Journal) {
    this.#emitter = emitter;
    this.#journal = journal;
  }

  nightly() {}
  hourly() {}
  async start() {
    await Promise.resolve();
    this.#emitter.emit("started");
    this.#journal.write("started");
  }
}
decorate(Jobs, [Injectable()], {
  inject: [EventEmitter2, Journal],
  methods: {
    nightly: [Cron("0 0 2 * * *", { timeZone: "Europe/Paris" })],
    hourly: [Interval(3_600_000)],
    start: [Timeout("start", 0)],
  },
});

class WarehouseController {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  stock(id: string) {
    return `${id}: 3`;
  }

  placed() {
    this.#journal.write("reserved");
  }
}
decorate(WarehouseController, [Controller()], {
  inject: [Journal],
  methods: { stock: [MessagePattern("stock")], placed: [EventPattern("order.placed")] },
});
for (const name of ["stock", "placed"]) Payload()(WarehouseController.prototype, name, 0);

/** The shop, whose warehouse is reached by TCP. */
export function shop(port: number): DynamicModule {
  class ShopModule {}
  Module({})(ShopModule);
  return {
    module: ShopModule,
    imports: [
      CqrsModule.forRoot(),
      EventEmitterModule.forRoot({ wildcard: true }),
      ScheduleModule.forRoot(),
      ClientsModule.register([{ name: "WAREHOUSE", transport: Transport.TCP, options: { host: "127.0.0.1", port } }]),
    ],
    controllers: [OrdersController, HealthController, WarehouseController],
    providers: [
      Journal,
      PlaceOrderHandler,
      ShipOrderHandler,
      RemindOrderHandler,
      GetOrdersHandler,
      OrderPlacedHandler,
      ShippingSagas,
      Listeners,
      Jobs,
    ],
  };
}

/** What is made anew for each request. */
class RequestId {}
decorate(RequestId, [Injectable({ scope: Scope.REQUEST })]);

class ScopedHandler {
  readonly #events: EventBus;

  constructor(_request: RequestId, events: EventBus) {
    this.#events = events;
  }

  async execute({ id }: PlaceOrder) {
    this.#events.publish(new OrderAudited(id));
  }
}
decorate(ScopedHandler, [CommandHandler(PlaceOrder)], { inject: [RequestId, EventBus] });

class ScopedListener {
  readonly #journal: Journal;

  constructor(_request: RequestId, journal: Journal) {
    this.#journal = journal;
  }

  handle() {
    this.#journal.write("audited");
  }
}
decorate(ScopedListener, [EventsHandler(OrderAudited)], { inject: [RequestId, Journal] });

class ScopedController {
  readonly #commands: CommandBus;

  constructor(_request: RequestId, commands: CommandBus) {
    this.#commands = commands;
  }

  async place(id: string) {
    await this.#commands.execute(new PlaceOrder(id));
  }
}
/** Of which a wrapped method must not lose anything. */
class Marking {
  intercept(_: unknown, next: { handle(): Observable<unknown> }) {
    return next.handle().pipe(map(() => "marked"));
  }
}
decorate(Marking, [Injectable()]);
decorate(ScopedController, [Controller("orders")], {
  inject: [RequestId, CommandBus],
  methods: { place: [Post(":id"), UseInterceptors(Marking)] },
});
Param("id")(ScopedController.prototype, "place", 0);

class ScopedModule {}
Module({
  imports: [CqrsModule.forRoot()],
  controllers: [ScopedController],
  providers: [Journal, RequestId, ScopedHandler, ScopedListener],
})(ScopedModule);

export { ScopedController, ScopedHandler, ScopedModule };
