import { printable } from "../../common/printable.ts";
import type { ContentDescriptor, LinkSnapshot, NodeSnapshot } from "../snapshot.ts";

/** A number of a node in words, and whether it is one of failures. */
export interface NumberText {
  readonly text: string;
  readonly failure: boolean;
}

/** States the messages of a node in words; nothing if none was seen. */
export function numberTexts({ sendTimers, receiveCounters, rate }: NodeSnapshot): readonly NumberText[] {
  const texts: NumberText[] = [];
  const say = (text: string, failure = false) => texts.push({ text, failure });
  const { successes, failures } = sendTimers ?? {};
  if (successes !== undefined && successes.count > 0) {
    say(`${successes.count} ok, mean ${milliseconds(successes.mean)}, max ${milliseconds(successes.max)}`);
  }
  if (failures !== undefined && failures.count > 0) say(`${failures.count} failed`, true);
  if (receiveCounters !== undefined && receiveCounters.successes + receiveCounters.failures > 0) {
    say(`${receiveCounters.successes} received`);
    if (receiveCounters.failures > 0) say(`${receiveCounters.failures} receives failed`, true);
  }
  if (rate > 0) say(`${rateText(rate)}/s`);
  return texts;
}

/** States in words what is not in a graph; undefined if nothing was left out. */
export function leftOutText({ dropped = 0, collapsed = 0 }: Pick<ContentDescriptor, "dropped" | "collapsed">) {
  const texts = [
    ...(dropped > 0 ? [`a node or link was left out ${dropped} times: raise limits`] : []),
    ...(collapsed > 0 ? [`${collapsed} names share nodes shown with *`] : []),
  ];
  return texts.length === 0 ? undefined : texts.join("; ");
}

/** Returns whether a message failed at a node. */
export function hasFailures({ sendTimers, receiveCounters }: NodeSnapshot): boolean {
  return (sendTimers?.failures.count ?? 0) + (receiveCounters?.failures ?? 0) > 0;
}

/** The label of a link: its type, unless it is the plain way on, and its messages, if there were any. */
export function linkLabel({ type, count }: LinkSnapshot): string {
  const way = type === "input" || type === "output" ? [] : [type];
  return [...way, ...(count > 0 ? [`${count}`] : [])].join(" ");
}

/**
 * Cuts printable text to at most `length` characters, the last of them `…` if there were more. A graph may come from elsewhere, so
 * that its names can hold what a terminal obeys.
 */
export function shortened(text: string, length: number): string {
  const whole = printable(text);
  if (whole.length <= length) return whole;
  const characters = Array.from(whole.slice(0, 2 * length));
  return characters.length <= length ? characters.join("") : `${characters.slice(0, length - 1).join("")}…`;
}

function milliseconds(time: number): string {
  return `${time < 10 ? time.toFixed(2) : time.toFixed(0)} ms`;
}

function rateText(rate: number): string {
  if (rate >= 10) return rate.toFixed(0);
  return rate >= 0.095 ? rate.toFixed(1) : rate.toPrecision(1);
}
