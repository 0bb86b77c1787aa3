/** `node scripts/pictures.ts`: draws README's pictures, docs/pictures, from the running sample application. */
import { execFile, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { root } from "./command.ts";

const pictures = join(root, "docs", "pictures");
const port = await freePort();
const sample = spawn(process.execPath, [join(root, "src/sample/start.js"), "--port", port, "--shop-port", "0"]);
try {
  await answers();
  // So that there is traffic in the graph.
  await delay(20_000);
  await connectActuator("graph", "--format", "svg", "-o", join(pictures, "graph.svg"));
  const set = ["loggers", "set", "shop.orders", "debug", "--for", "10m", "--reason", "ticket 812"];
  await connectActuator(...set);
  const list = ["loggers", "list", "shop"];
  const texts = [
    `$ npx connect-actuator ${set.join(" ").replace("ticket 812", '"ticket 812"')}`,
    "",
    "$ npx connect-actuator loggers list shop",
  ];
  await writeFile(
    join(pictures, "loggers.svg"),
    terminal([...texts, ...(await connectActuator(...list)).trimEnd().split("\n")]),
  );
  await pages();
} finally {
  sample.kill();
}

/** The page in a browser, in both themes. */
async function pages(): Promise<void> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 700 }, colorScheme });
    await page.goto(`http://127.0.0.1:${port}/actuator/ui/#/loggers/shop.orders`);
    await delay(3_000);
    await page.screenshot({ path: join(pictures, `page-${colorScheme}.png`) });
    await page.close();
  }
  await browser.close();
}

async function connectActuator(...args: string[]): Promise<string> {
  const env = { ...process.env, ACTUATOR_URL: `http://127.0.0.1:${port}`, FORCE_COLOR: "1" };
  return (await promisify(execFile)(process.execPath, [join(root, "src/cli/main.ts"), ...args], { env })).stdout;
}

async function answers(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(`http://127.0.0.1:${port}/actuator/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await delay(100);
  }
  throw new Error("the sample does not answer");
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(String(port)));
    });
  });
}

/** A terminal's colours by their codes: foreground only, which is all that the command line uses. */
function lookOf(code: string): string {
  const looks: Readonly<Record<string, string>> = {
    "1": "font-weight: bold",
    "2": "fill: #8b949e",
    "31": "fill: #ff7b72",
    "32": "fill: #7ee787",
    "33": "fill: #e3b341",
    "35": "fill: #d2a8ff",
    "36": "fill: #79c0ff",
  };
  return looks[code] ?? "";
}

/** Draws lines of a terminal, ANSI colours included, as an SVG that needs no font of its own. */
function terminal(lines: readonly string[]): string {
  const [width, lineHeight, margin] = [8.4, 20, 20];
  const columns = Math.max(...lines.map((line) => line.replace(/\u001b\[\d+m/g, "").length));
  const [w, h] = [Math.ceil(columns * width) + 2 * margin, lines.length * lineHeight + 2 * margin];
  const rows = lines.map((line, row) => {
    let look = "";
    let column = 0;
    const spans = line.split(/\u001b\[(\d+)m/).map((part, index) => {
      if (index % 2 === 1) {
        look = lookOf(part);
        return "";
      }
      const x = margin + column * width;
      column += part.length;
      if (part.trim() === "") return "";
      const text = part.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
      return `<tspan x="${x.toFixed(1)}" style="${look}" textLength="${(part.length * width).toFixed(1)}">${text}</tspan>`;
    });
    return `<text y="${margin + row * lineHeight + 14}">${spans.join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" role="img">`,
    "<title>loggers of the sample application on the command line</title>",
    "<style>text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre }</style>",
    `<rect width="${w}" height="${h}" rx="8" fill="#0d1117"/>`,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}
