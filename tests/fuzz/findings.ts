// Judges answers and collects what is wrong, with a command that repeats the first request of each kind.

import { nameOf, type Operation } from "./operations.ts";
import type { FuzzAnswer, SentRequest } from "./send.ts";
import { CANARIES } from "./world.ts";

export interface Finding {
  /** Findings with the same title are counted together. */
  title: string;
  count: number;
  /** The number of the request, for `--only`. */
  request: number;
  reproduction: string;
  answer: string;
}

/** What an answer must never show: parts of stacks, paths of the binary, SQL. */
const INTERNALS =
  /\n\s+at \S+ \(|\/\$bunfs\/|SQLITE_[A-Z]|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) [a-z_]+ |\$argon2id?\$/;

/** The code of the one 500 that is not a defect: a balance can't be shown while the chain doesn't answer. */
export const NO_CHAIN = "CHAIN_UNAVAILABLE";
const ASKS_CHAIN = /wallet|gating|verif|social/;

export function createFindings() {
  const byTitle = new Map<string, Finding>();

  function add(title: string, request: number, sent: SentRequest, answer: string): void {
    const known = byTitle.get(title);
    if (known) known.count += 1;
    else byTitle.set(title, { title, count: 1, request, reproduction: toCurl(sent), answer: answer.slice(0, 3_000) });
  }

  return {
    list: () => [...byTitle.values()],
    addOther: (title: string, details: string) =>
      add(title, -1, { method: "", url: "", headers: {}, body: undefined }, details),
    judge(request: number, operation: Operation, sent: SentRequest, answer: FuzzAnswer): void {
      for (const [what, details] of problemsOf(operation, answer)) {
        add(`${what}: ${nameOf(operation)}`, request, sent, details);
      }
    },
  };
}

/** What is wrong with an answer, with details. */
function problemsOf({ statuses, path }: Operation, answer: FuzzAnswer): [what: string, details: string][] {
  if (answer.kind === "timeout") return [["no answer in time", ""]];
  if (answer.kind === "broken") return [["the connection broke", answer.message]];
  const { status, text, type } = answer;
  const problems: [string, string][] = [];
  const isNoChain = ASKS_CHAIN.test(path) && text.includes(`"${NO_CHAIN}"`);
  if (status === 500 && !isNoChain) problems.push(["500", text]);
  else if (status > 500 && !statuses.has(status)) problems.push([`undocumented ${status}`, text]);
  if (INTERNALS.test(text)) problems.push(["internals in an answer", INTERNALS.exec(text)?.[0] ?? ""]);
  for (const [name, canary] of Object.entries(CANARIES)) {
    if (text.includes(canary)) problems.push([`the ${name} in an answer`, text]);
  }
  const hasShape = status < 400 || !type.includes("json") || isError(text);
  if (!hasShape) problems.push([`${status} without the error's shape`, text]);
  return problems;
}

/** `{ error, code }`, or OpenAI's own shape under /v1. */
function isError(text: string): boolean {
  try {
    const { error, code, status } = JSON.parse(text) as Record<string, unknown>;
    if (typeof error === "string") return typeof code === "string";
    // Not ready: the parts that are not.
    return (typeof error === "object" && error !== null) || typeof status === "string";
  } catch {
    return false;
  }
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function toCurl({ method, url, headers, body }: SentRequest): string {
  const shown = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value.slice(0, 200)}`)}`);
  const data = body === undefined ? [] : [`-d ${quote(body.length > 2_000 ? `${body.slice(0, 2_000)}…` : body)}`];
  return ["curl -s", `-X ${method}`, ...shown, ...data, quote(url)].join(" ");
}
