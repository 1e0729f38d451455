// What the operator's Prometheus would say: scrapes of the running binary, judged by the rules of docs/monitoring.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "../support/process.ts";

const rules = resolve(import.meta.dir, "../../docs/monitoring/alerts.yml");
/** Minutes for which the first scrape is taken to have lasted, since rules compare with what was before. */
const BEFORE = 45;

export interface Monitor {
  /** Scrapes `backend` once: a minute more of the incident. A service that does not answer counts as down. */
  minute(): Promise<void>;
  /** The alerts that fired since the incident began, with the minute in which each did so first. */
  alerts(): Promise<{ name: string; minute: number }[]>;
}

type Scrape = Map<string, number>;

/** Begins with a scrape of the service as it is before the incident. */
export async function watch(backend: () => string, folder: string): Promise<Monitor> {
  const scrapes: Scrape[] = [await scrape(backend())];
  return {
    async minute() {
      scrapes.push(await scrape(backend()));
    },
    async alerts() {
      const file = join(folder, "incident.test.yml");
      const last = BEFORE + scrapes.length - 1;
      writeFileSync(file, ruleTest(scrapes, last));
      const path = { PATH: process.env.PATH ?? "" };
      const { stdout, stderr } = await run(["promtool", "test", "rules", file], path, folder, 120_000);
      const output = `${stdout}\n${stderr}`;
      if (output.includes("parse error")) throw new Error(output);
      return firstMinutes(output);
    },
  };
}

async function scrape(backend: string): Promise<Scrape> {
  const found: Scrape = new Map();
  const text = await fetch(`${backend}/metrics`, { signal: AbortSignal.timeout(10_000) })
    .then((response) => (response.ok ? response.text() : ""))
    .catch(() => "");
  found.set('up{job="berth",instance="a"}', text === "" ? 0 : 1);
  for (const line of text.split("\n")) {
    const [, name = "", labels, value] = /^([a-z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    // promtool's tests know no infinite figures, and none that could not be taken.
    if (name === "" || !Number.isFinite(Number(value))) continue;
    found.set(`${name}{job="berth",instance="a"${labels ? `,${labels}` : ""}}`, Number(value));
  }
  return found;
}

/** A test for promtool that expects no alert in any minute: what it got instead is in its complaint. */
function ruleTest(scrapes: readonly Scrape[], last: number): string {
  const names = new Set(scrapes.flatMap((one) => [...one.keys()]));
  const series = [...names].map((name) => {
    const [first = "_", ...rest] = scrapes.map((one) => one.get(name)?.toString() ?? "_");
    const values = [first === "_" ? `_x${BEFORE}` : `${first}x${BEFORE}`, ...rest].join(" ");
    return `      - { series: ${JSON.stringify(name)}, values: ${JSON.stringify(values)} }`;
  });
  const minutes = Array.from({ length: last - BEFORE + 1 }, (_, n) => BEFORE + n);
  const asked = minutes.map((minute) => `      - { expr: 'ALERTS{alertstate="firing"}', eval_time: ${minute}m }`);
  return [
    `rule_files: [${JSON.stringify(rules)}]`,
    "evaluation_interval: 1m",
    "tests:",
    "  - interval: 1m",
    "    input_series:",
    ...series,
    "    promql_expr_test:",
    ...asked,
    "",
  ].join("\n");
}

function firstMinutes(output: string): { name: string; minute: number }[] {
  const first = new Map<string, number>();
  for (const [, minutes = "0", rest = ""] of output.matchAll(/time: (\w+),([\s\S]*?)(?=expr:|$)/g)) {
    for (const [, name = ""] of rest.matchAll(/alertname="(\w+)"/g))
      if (!first.has(name)) first.set(name, inMinutes(minutes) - BEFORE);
  }
  return [...first].map(([name, minute]) => ({ name, minute }));
}

/** The minutes of "1h5m". */
const inMinutes = (text: string) =>
  [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unit === "h" ? 60 : unit === "m" ? 1 : 0),
    0,
  );
