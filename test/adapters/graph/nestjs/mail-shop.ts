import { BullModule, InjectQueue, Processor, WorkerHost } from "@nestjs/bullmq";
import { Controller, type DynamicModule, Module, Param, Post } from "@nestjs/common";
import {
  type ClientProxy,
  ClientsModule,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
} from "@nestjs/microservices";
import type { Job, Queue } from "bullmq";
import { decorate } from "./decorate.ts";
import { Journal } from "./shop.ts";

class OrdersController {
  readonly #mails: Queue;

  constructor(mails: Queue) {
    this.#mails = mails;
  }

  async mail(id: string) {
    await this.#mails.add("mail", { id });
  }

  async bulk() {
    await this.#mails.addBulk([1, 2, 3].map((id) => ({ name: "mail", data: { id } })));
  }
}
decorate(OrdersController, [Controller("orders")], { methods: { mail: [Post(":id/mail")], bulk: [Post("bulk")] } });
InjectQueue("emails")(OrdersController, undefined, 0);
Param("id")(OrdersController.prototype, "mail", 0);

class EmailProcessor extends WorkerHost {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    super();
    this.#journal = journal;
  }

  override async process(job: Job) {
    this.#journal.write("job");
    await Promise.resolve();
    if (job.data.id === "bad") throw new Error("no such address");
  }
}
decorate(EmailProcessor, [Processor("emails", { concurrency: 2 })], { inject: [Journal] });

/** Mails that are sent by a queue of BullMQ. */
export function mailShop(port: number): DynamicModule {
  class MailModule {}
  Module({})(MailModule);
  return {
    module: MailModule,
    imports: [
      BullModule.forRoot({ connection: { host: "127.0.0.1", port } }),
      BullModule.registerQueue({ name: "emails" }),
    ],
    controllers: [OrdersController],
    providers: [Journal, EmailProcessor],
  };
}

class RabbitController {
  readonly #orders: ClientProxy;
  readonly #journal: Journal;

  constructor(orders: ClientProxy, journal: Journal) {
    this.#orders = orders;
    this.#journal = journal;
  }

  place(id: string) {
    this.#orders.emit("order.placed", id);
  }

  price(id: string) {
    return this.#orders.send({ cmd: "price" }, id);
  }

  placed(id: string) {
    this.#journal.write("placed");
    if (id === "bad") throw new Error("no");
  }

  priced() {
    return 3;
  }
}
decorate(RabbitController, [Controller("orders")], {
  inject: ["ORDERS", Journal],
  methods: {
    place: [Post(":id")],
    price: [Post(":id/price")],
    placed: [EventPattern("order.placed")],
    priced: [MessagePattern({ cmd: "price" })],
  },
});
for (const name of ["place", "price"]) Param("id")(RabbitController.prototype, name, 0);
for (const name of ["placed", "priced"]) Payload()(RabbitController.prototype, name, 0);

/** Orders that go through a queue of RabbitMQ. */
export function rabbitShop(options: object): DynamicModule {
  class RabbitModule {}
  Module({})(RabbitModule);
  return {
    module: RabbitModule,
    imports: [ClientsModule.register([{ name: "ORDERS", transport: Transport.RMQ, options }])],
    controllers: [RabbitController],
    providers: [Journal],
  };
}
