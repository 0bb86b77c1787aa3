import type { NodeSnapshot } from "../snapshot.ts";

/** A number of a node in words, and whether it is one of failures. */
export interface NumberText {
  readonly text: string;
  readonly failure: boolean;
}

/** What a node says of its messages, in words; nothing where none was seen. */
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

/** Whether anything failed at a node. */
export function hasFailures({ sendTimers, receiveCounters }: NodeSnapshot): boolean {
  return (sendTimers?.failures.count ?? 0) + (receiveCounters?.failures ?? 0) > 0;
}

function milliseconds(time: number): string {
  return `${time < 10 ? time.toFixed(2) : time.toFixed(0)} ms`;
}

function rateText(rate: number): string {
  if (rate >= 10) return rate.toFixed(0);
  return rate >= 0.095 ? rate.toFixed(1) : rate.toPrecision(1);
}
