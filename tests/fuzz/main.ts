// `npm run fuzz -- --seconds N --seed S [--only REQUEST]`: sends requests made from the API documents to the compiled binary,
// as several people at once, and reports server errors, hangs, leaks of secrets, and growing memory. Exits with 1 on findings.

import { parseArgs } from "node:util";
import { memoryOf } from "../../bench/support/process-usage.ts";
import { createFindings, NO_CHAIN } from "./findings.ts";
import { loadOperations, nameOf, type Operation } from "./operations.ts";
import { type FuzzRequest, makeRequest } from "./requests.ts";
import { encode, type FuzzAnswer, send } from "./send.ts";
import { CANARIES, openWorld } from "./world.ts";

/** Requests in flight. */
const WORKERS = 12;
/** Hashing passwords and asking a chain make these slow. */
const SLOW = /register|credentials|password|first-admin|2fa|\/wallet\/(send|trade|pay)/;
/** These end accounts, sessions and agents that other requests need. */
const DESTRUCTIVE = /^(DELETE .*\/(settings|sessions|agents\/\{id\})|POST .*signout|(DELETE|PATCH) .*users\/\{id\}) /;
/** /healthz may take this long: longer means that the loop hangs. */
const HANG_MS = 2_000;
/** The part of the operations that must succeed at least once in a minute; about 0.75 do. */
const MIN_COVERAGE = 0.6;
const MIB = 1024 * 1024;
/** Growth of memory after the warm-up that counts as a leak. */
const MAX_GROWTH = { factor: 1.6, bytes: 120 * MIB };

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(values.seed);
const print = (line: string) => process.stdout.write(`${line}\n`);
if (!(seconds > 0) || !Number.isInteger(seed)) {
  print("Usage: npm run fuzz -- --seconds N --seed S [--only REQUEST]");
  process.exit(2);
}

await using world = await openWorld();
const operations = weigh(await loadOperations(world.berth));
const findings = createFindings();
const statuses = new Map<number, number>();
const answered = new Map<string, { good: number; statuses: Map<number, number>; slowest: number }>();
const memory: number[] = [];
let sent = 0;
let worstHealth = 0;
const until = performance.now() + seconds * 1_000;
const isOver = () => performance.now() > until || !world.berth.running;

print(`fuzz: ${new Set(operations).size} operations, seed ${seed}, ${seconds} s`);

const probing = setInterval(probe, 250);
if (values.only === undefined) await Promise.all(Array.from({ length: WORKERS }, work));
else await perform(Number(values.only));
clearInterval(probing);

if (!world.berth.running) findings.addOther("the process ended", world.berth.output().stderr.slice(-2_000));
judgeMemory();
judgeLog();
judgeCoverage();
report();
process.exitCode = findings.list().length > 0 ? 1 : 0;

/** Repeats operations by their weight, so that an even choice is right. */
function weigh(all: Operation[]): Operation[] {
  const weightOf = (operation: Operation) =>
    SLOW.test(operation.path) ? 1 : DESTRUCTIVE.test(nameOf(operation)) ? 2 : 10;
  return all.flatMap((operation) => Array.from({ length: weightOf(operation) }, () => operation));
}

async function work(): Promise<void> {
  while (!isOver()) {
    const number = sent++;
    if (number % 15 === 0) await world.replenish().catch(() => world.suspect("owner"));
    await perform(number);
  }
}

/** Makes and sends the request with this number. */
async function perform(number: number): Promise<void> {
  // A multiplication spreads consecutive numbers over all operations.
  const mixed = (seed + Math.imul(number + 1, 0x9e3779b1)) >>> 0;
  const operation = operations[mixed % operations.length];
  if (!operation) return;
  const request = makeRequest(operation, mixed | 0);
  try {
    const encoded = await encode(world, request);
    const [answer] = await Promise.all([send(encoded), ...raceOf(request, encoded, mixed)]);
    record(number, request, answer);
    findings.judge(number, operation, encoded, answer);
  } catch (error) {
    // The actor could not be made again: another request changed what it needs at the same moment.
    if (isOver()) return;
    world.suspect(request.actor);
    if (values.only !== undefined) print(String(error));
  }
}

/** The requests that run at the same time. */
function raceOf({ race }: FuzzRequest, encoded: Parameters<typeof send>[0], at: number): Promise<FuzzAnswer>[] {
  const agent = /\/agents\/([0-9a-f-]{36})/.exec(encoded.url)?.[1] ?? world.anyAgent(at);
  const { headers } = encoded;
  const { web } = world.berth;
  if (race === "same") return [send(encoded)];
  if (race === "delete")
    return [send({ method: "DELETE", url: `${web}/api/agents/${agent}`, headers, body: undefined })];
  if (race === "stop")
    return [send({ method: "POST", url: `${web}/api/agents/${agent}/stop`, headers, body: undefined })];
  return [];
}

function record(number: number, { operation, actor }: FuzzRequest, answer: FuzzAnswer): void {
  const status = answer.kind === "answer" ? answer.status : 0;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const name = nameOf(operation);
  const seen = answered.get(name) ?? { good: 0, statuses: new Map<number, number>(), slowest: 0 };
  const isGood = status >= 200 && status < 400;
  answered.set(name, {
    good: seen.good + (isGood ? 1 : 0),
    statuses: seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1),
    slowest: Math.max(seen.slowest, answer.ms),
  });
  if (status === 401 || (isGood && /signout|sessions|password|2fa|settings|users|keys/.test(operation.path)))
    world.suspect(actor);
  if (answer.kind === "answer") world.learn(operation.path, answer.text);
  if (values.only !== undefined) print(`request ${number}: ${name} as ${actor}: ${JSON.stringify(answer)}`);
}

async function probe(): Promise<void> {
  const startedAt = performance.now();
  const isHealthy = await fetch(`${world.berth.web}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
  worstHealth = Math.max(worstHealth, performance.now() - startedAt);
  if (isOver()) return;
  memory.push(memoryOf(world.berth.pid).rss);
  if (!isHealthy) findings.addOther("/healthz does not answer", "");
  if (worstHealth > HANG_MS) findings.addOther("/healthz hangs", `${worstHealth.toFixed(0)} ms`);
}

/** Compares the last tenth of the run with the tenth after its first third, when caches are filled and code is compiled. */
function judgeMemory(): void {
  const tenth = Math.max(1, Math.floor(memory.length / 10));
  const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length);
  const warm = mean(memory.slice(Math.floor(memory.length / 3)).slice(0, tenth));
  const end = mean(memory.slice(-tenth));
  print(`memory: ${(warm / MIB).toFixed(0)} MiB after a third, ${(end / MIB).toFixed(0)} MiB at the end`);
  if (end > warm * MAX_GROWTH.factor && end - warm > MAX_GROWTH.bytes) {
    findings.addOther("memory grows", `${(warm / MIB).toFixed(0)} → ${(end / MIB).toFixed(0)} MiB`);
  }
}

/** A fuzz whose requests are all refused finds nothing. */
function judgeCoverage(): void {
  const good = [...answered.values()].filter((seen) => seen.good > 0).length;
  if (seconds < 60 || good >= answered.size * MIN_COVERAGE) return;
  findings.addOther("too few operations succeed", `${good} of ${answered.size} succeeded at least once`);
}

/** An error that is logged without a refusal of its own, and secrets. */
function judgeLog(): void {
  const { stdout, stderr } = world.berth.output();
  for (const [name, canary] of Object.entries(CANARIES)) {
    const line = `${stdout}\n${stderr}`.split("\n").find((one) => one.includes(canary));
    if (line) findings.addOther(`the ${name} in the log`, line.replaceAll(canary, "***"));
  }
  for (const line of stderr.split("\n").filter((one) => one.startsWith("{"))) {
    const { level, message, error } = JSON.parse(line) as {
      level: string;
      message: string;
      error?: { status?: number; code?: string };
    };
    if (level === "error" && (error?.status ?? 500) === 500 && error?.code !== NO_CHAIN)
      findings.addOther(`logged as an error: ${message} (${error?.code ?? ""})`, line);
  }
}

function report(): void {
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  print(`requests: ${all} (${(all / seconds).toFixed(0)}/s)`);
  print(
    `by status: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status} ${count}`)
      .join(", ")}`,
  );
  const never = [...answered].filter(([, { good }]) => good === 0);
  print(`operations that succeeded at least once: ${answered.size - never.length} of ${answered.size}`);
  if (seconds >= 30 && never.length > 0)
    print(`never: ${never.map(([name, { statuses }]) => `${name} ${[...statuses.keys()].join("/")}`).join(", ")}`);
  const slowest = [...answered].sort(([, a], [, b]) => b.slowest - a.slowest).slice(0, 5);
  print(`slowest: ${slowest.map(([name, { slowest }]) => `${name} ${slowest.toFixed(0)} ms`).join(", ")}`);
  print(`/healthz at worst: ${worstHealth.toFixed(0)} ms`);
  for (const { title, count, request, reproduction, answer } of findings.list()) {
    print(`\n✗ ${title} (${count} times)`);
    if (request >= 0) print(`  request ${request} of seed ${seed}: ${reproduction}`);
    if (answer) print(`  ${answer}`);
  }
  print(findings.list().length === 0 ? "fuzz: nothing found" : `\nfuzz: ${findings.list().length} findings`);
}
