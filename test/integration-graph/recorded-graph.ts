import type { GraphBuilder } from "../../src/integration-graph/builder.ts";

/** Declares what the original's recorded graph shows: 68 components, in the order in which the original lists them. */
export function declareRecordedGraph(g: GraphBuilder): void {
  g.channel("orders");
  g.channel("priced");
  g.publishSubscribeChannel("audit");
  g.pollableChannel("slow");
  g.pollableChannel("parked");
  g.pollableChannel("rejected");
  g.pollableChannel("late");
  g.executorChannel("executor");
  const express = g.channel("express");
  const standard = g.channel("standard");
  g.channel("lines");
  g.channel("checked");
  g.channel("collected");
  g.channel("copyA");
  g.channel("copyB");
  g.channel("ticks");
  g.channel("chainIn");
  g.channel("replies");
  const obsChannel = g.channel("obsChannel");
  g.channel("failing");
  g.channel("gwErrors");
  g.channel("recipientsIn");
  g.channel("routed");
  g.channel("reseqIn");
  g.channel("claimIn");
  g.channel("busIn");
  g.channel("scatterIn");
  g.channel("jsonIn");
  const nowhere = g.nullChannel();
  g.publishSubscribeChannel("errorChannel");
  g.channel("dslIn");
  g.channel("dslFlow.channel#0");
  g.channel("dslFlow.channel#1");
  g.channel("annotated");

  g.inboundChannelAdapter("ticker.source", { output: "ticks", error: "gwErrors" });
  g.gateway("orderGateway.place(java.lang.String)", { output: "orders", error: "gwErrors" });
  g.gateway("orderGateway.ask(java.lang.String,java.lang.Integer)", { output: "orders", error: "gwErrors" });
  g.filter("nonEmpty", { input: "orders", output: "checked", discard: "rejected" });
  g.transformer("pricer", {
    input: "checked",
    output: "priced",
    componentType: "expression-transformer",
    properties: { expression: "payload.toUpperCase()" },
  });
  g.recipientListRouter("fanOut", { input: "priced", routes: ["audit", "routed"] });
  g.router("byKind", {
    input: "routed",
    routes: { express, standard },
    default: "parked",
    properties: { expression: "payload.startsWith('X') ? 'x' : 's'" },
  });
  g.splitter("toLines", {
    input: express,
    output: "lines",
    discard: "rejected",
    properties: { expression: "payload.split('-')" },
  });
  g.aggregator("collect", { input: "lines", output: "collected", discard: "late" });
  g.serviceActivator("shipper", { input: "collected", output: "slow" });
  g.serviceActivator("slowWorker", {
    input: "slow",
    output: nowhere,
    error: "gwErrors",
    properties: { expression: "payload" },
  });
  g.bridge("standardBridge", { input: standard, output: "executor" });
  g.serviceActivator("execWorker", { input: "executor", output: nowhere, properties: { expression: "payload" } });
  g.outboundChannelAdapter("auditLog", { input: "audit", componentType: "logging-channel-adapter" });
  g.outboundChannelAdapter("auditStore", { input: "audit", componentType: "method-outbound-channel-adapter" });
  g.outboundChannelAdapter("tickSink", {
    input: "ticks",
    componentType: "expression-outbound-channel-adapter",
    properties: { expression: "payload" },
  });
  g.chain("pipeline", {
    input: "chainIn",
    output: "replies",
    handlers: [
      { name: "pipeline$child.addSource", type: "header-enricher" },
      { name: "pipeline$child#1", type: "expression-transformer" },
      { name: "pipeline$child#2", type: "filter" },
      { name: "pipeline$child.inChain", type: "service-activator" },
    ],
  });
  g.bridge("repliesToNull", { input: "replies", output: nowhere });
  g.recipientListRouter("copier", { input: "recipientsIn", routes: ["copyA", "copyB"] });
  g.delayer("later", { input: "copyA", output: nowhere });
  g.headerFilter("strip", { input: "copyB", output: nowhere });
  const obsWorker = g.serviceActivator("obsWorker", {
    input: obsChannel,
    output: nowhere,
    properties: { expression: "payload" },
  });
  g.serviceActivator("breaker", { input: "failing" });
  g.serviceActivator("errorSink", { input: "gwErrors", properties: { expression: "'handled'" } });
  g.resequencer("inOrder", { input: "reseqIn", output: nowhere, discard: nowhere });
  g.claimCheckIn("checkIn", { input: "claimIn", output: nowhere });
  g.controlBus("bus", { input: "busIn", componentType: "service-activator" });
  g.scatterGather("gatherer", { input: "scatterIn", output: nowhere });
  g.transformer("toJson", { input: "jsonIn", output: nowhere, componentType: "object-to-json-transformer" });
  g.outboundChannelAdapter("errorLogger", { input: "errorChannel", componentType: "logging-channel-adapter" });
  const dslEndpoint = "dslFlow.org.springframework.integration.config.ConsumerEndpointFactoryBean";
  g.transformer(`${dslEndpoint}#0`, {
    input: "dslIn",
    output: "dslFlow.channel#0",
    componentType: "method-invoking-transformer",
  });
  g.filter(`${dslEndpoint}#1`, { input: "dslFlow.channel#0", output: "dslFlow.channel#1" });
  g.serviceActivator(`${dslEndpoint}#2`, { input: "dslFlow.channel#1", output: nowhere });
  g.serviceActivator("app.annotated.serviceActivator", { input: "annotated", output: nowhere });

  // The two whose numbers the original was asked to take.
  obsWorker.handle(obsChannel.sender(() => {}));
}
