import { Actuator, ActuatorError } from "./connect.js";

const LEVELS = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
/** What the server will say again. All else passes: it drains, or is out of reach. */
const FINAL = ["unauthenticated", "permission_denied", "invalid_argument", "unimplemented", "not_found"];
const LONGEST_PAUSE_MS = 10_000;

const form = document.querySelector("form");
const table = document.querySelector("table");
let current = new AbortController();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  current.abort();
  current = new AbortController();
  // The token is kept in this page's memory and nowhere else.
  const { address, token } = form.elements;
  watch(new Actuator(address.value, token.value), current.signal);
});

/** Shows every change of a level, for ever: over a server that drains, and one that is started again. */
async function watch(actuator, signal) {
  table.replaceChildren();
  let pause = 200;
  while (!signal.aborted) {
    try {
      for await (const { snapshot, change } of actuator.watch("LoggersService/WatchLoggers", {}, signal)) {
        if (snapshot) say(`watching ${snapshot.loggers.length} loggers`);
        for (const logger of (snapshot ?? change)?.loggers ?? []) show(logger, actuator);
        pause = 200;
      }
    } catch (error) {
      if (signal.aborted) return;
      say(explained(error));
      if (FINAL.includes(error.code)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, (pause * (1 + Math.random())) / 2));
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

function show({ name, effectiveLevel = "LEVEL_UNSPECIFIED" }, actuator) {
  const row = Array.from(table.rows).find((row) => row.dataset.name === name) ?? newRow(name, actuator);
  row.querySelector("select").value = short(effectiveLevel);
}

function newRow(name, actuator) {
  const row = table.insertRow();
  row.dataset.name = name;
  row.insertCell().textContent = name;
  const select = document.createElement("select");
  select.ariaLabel = `Level of ${name}`;
  select.append(...LEVELS.map((level) => new Option(level)));
  select.addEventListener("change", async () => {
    const request = { name, level: `LEVEL_${select.value}`, reason: "a page" };
    try {
      await actuator.call("LoggersService/SetLoggerLevel", request);
      say(`${name} set to ${select.value}`);
    } catch (error) {
      say(explained(error));
      const { logger } = await actuator.call("LoggersService/GetLogger", { name });
      select.value = short(logger.effectiveLevel);
    }
  });
  row.insertCell().append(select);
  return row;
}

function explained(error) {
  if (!(error instanceof ActuatorError)) throw error;
  return [error.code, error.info?.reason, error.message].filter(Boolean).join(" ");
}

function short(level) {
  return level.replace(/^LEVEL_/, "");
}

function say(text) {
  document.querySelector("output").textContent = text;
}
