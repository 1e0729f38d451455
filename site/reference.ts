// Writes the reference pages that are made from the program itself: `bun site/reference.ts`. A test fails when one is out of date.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../tests/support/process.ts";
import { ERROR_MEANINGS } from "./error-meanings.ts";
import { listedPages, root, titleOf } from "./pages.ts";

interface ReferencePage {
  path: string;
  make(): Promise<string>;
}

/** The pages that `write` writes whole. Those of settings, configurations and channels are written beside their rows. */
export const referencePages: readonly ReferencePage[] = [
  { path: "docs/cli.md", make: commandsPage },
  { path: "docs/api.md", make: apiPage },
  { path: "docs/errors.md", make: errorsPage },
];

/** What `berth` prints with these arguments. Run from source, because the texts are those of any build. */
export async function output(...args: string[]): Promise<string> {
  const main = join(root, "src/server/main.ts");
  const env = { PATH: process.env.PATH ?? "", NODE_ENV: "production" };
  const { exitCode, stdout, stderr } = await run([process.execPath, main, ...args], env, root, 120_000);
  if (exitCode !== 0) throw new Error(`berth ${args.join(" ")} ended with ${exitCode}: ${stderr}`);
  return stdout.replaceAll("./dist/berth", "berth").trim();
}

async function commandsPage(): Promise<string> {
  const overview = await output("help");
  const names = [...overview.matchAll(/^ {2}(\w[\w-]*)/gm)].map(([, name = ""]) => name);
  const helps = await Promise.all(names.map((name) => output("help", name)));
  const sections = names.map((name, index) => `## ${name}\n\n${fenced(helps[index] ?? "")}`);
  return `# Command line

The binary is the service and its own command line: \`berth\` without a command serves. It is \`./dist/berth\` where it was built. Commands that change
data work beside the running service, over its control socket, and without one. The exit code is 0 for success, 2 for wrong arguments, and
otherwise 1, unless the command says more below.

<!-- made by \`bun site/reference.ts\` from what the commands say of themselves -->

${fenced(overview.split("\n").slice(2).join("\n"))}

${sections.join("\n\n")}
`;
}

const fenced = (text: string) => `\`\`\`text tested-by: site/reference.test.ts\n${text.trim()}\n\`\`\``;

interface Answer {
  "x-error-codes"?: string[];
  /** Answers that several operations share stand in the components. */
  $ref?: string;
}
interface Operation {
  summary?: string;
  responses?: Record<string, Answer>;
  tags?: string[];
  deprecated?: boolean;
}
interface Document {
  tags?: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { responses?: Record<string, Answer> };
}

const codesOf = ({ $ref, "x-error-codes": codes }: Answer, { responses = {} }: Document["components"]) =>
  ($ref === undefined ? codes : responses[$ref.split("/").at(-1) ?? ""]?.["x-error-codes"]) ?? [];

let read: Promise<[web: Document, backend: Document]> | undefined;

/** The API documents of both surfaces, which the program prints once for all pages. */
function documents(): Promise<[web: Document, backend: Document]> {
  read ??= Promise.all([output("openapi", "web"), output("openapi", "backend")]).then(([web, backend]) => [
    JSON.parse(web),
    JSON.parse(backend),
  ]);
  return read;
}

async function apiPage(): Promise<string> {
  const [web, backend] = await documents();
  return `# API

Everything that the console does is a request of the API. The service describes it itself, with schemas and every error: as a page at \`/swagger\`, and as an
OpenAPI 3.1 document at \`/swagger/json\`; \`berth openapi\` prints it without a service. [A tour with curl](api-tour.md) is the way to begin.

- **Two surfaces.** The web (port 3000) serves people and their programs. The backend (port 3001) serves operators, models for programs, and the web
  itself; keep it on loopback unless you mean to open it. See [architecture](architecture.md#two-surfaces).
- **Who calls.** A session (a cookie, or the same as a bearer token), or an API key: \`Authorization: Bearer bk_…\`, made under **Account → API keys** or
  by \`POST /api/keys\`. A key has scopes; a request without the one that it needs gets 403.
- **Bodies** are JSON of at most 1 MiB. Fields that a route does not know are ignored, and named in \`warnings\` of the answer.
- **Errors** have one shape: \`error\` and \`message\` for people, \`code\` for programs, \`issues\` with the places in a body: [all codes](errors.md).
  Each answer has an \`x-request-id\`, under which the log has it.
- **Repetition.** With an \`Idempotency-Key\`, a POST that creates or spends is done once, and its answer is replayed for 24 hours. A message
  to an agent is one message under its key also if the service was killed before it could answer; a request that waited for a reply, whose turn failed or was cancelled, tries it again. A reply that is streamed
  (\`accept: text/event-stream\`) is not kept: the same request is another message.
- **Limits.** 429 with \`Retry-After\`; the rates are in \`RATE_LIMITS\` ([settings](configuration.md)).
- **Events** come [as a stream or by webhook](webhooks.md), chats also [over a WebSocket](gateway.md).

<!-- made by \`bun site/reference.ts\` from the API documents of both surfaces -->

# Web API

${operationsOf(web)}

# Backend API

${operationsOf(backend)}
`;
}

async function errorsPage(): Promise<string> {
  const requests = new Map<string, { statuses: Set<string>; names: Set<string> }>();
  for (const { paths, components } of await documents())
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { responses = {} }] of Object.entries(methods))
        for (const [status, response] of Object.entries(responses))
          for (const code of codesOf(response, components)) {
            const { statuses, names } = requests.getOrInsertComputed(code, () => ({
              statuses: new Set(),
              names: new Set(),
            }));
            statuses.add(status);
            names.add(`\`${method.toUpperCase()} ${path}\``);
          }
  const texts = GUIDES.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const guides = (code: string) =>
    texts
      .filter(({ text }) => text.includes(`\`${code}\``))
      .map(({ path }) => `[${titleOf(path)}](${path.replace("docs/", "")})`)
      .join(", ");
  const meaningOf = (code: string) => {
    const texts = [ERROR_MEANINGS[code] ?? "", guides(code)].filter((text) => text !== "");
    if (texts.length > 0) return texts.join(" ");
    throw new Error(`No guide names ${code}. Give it a sentence in site/error-meanings.ts.`);
  };
  const rows = [...requests]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { statuses, names }]) => {
      const [shown, more] = [[...names].slice(0, SHOWN_REQUESTS), names.size - SHOWN_REQUESTS];
      const answers = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
      return `| \`${code}\` | ${[...statuses].sort().join(", ")} | ${answers} | ${meaningOf(code)} |`;
    });
  return `# Error codes

An error has one shape everywhere: \`error\` and \`message\`, the same sentence for people, which says what happened and what to do; \`code\` for programs, which stays when the sentence
changes; \`issues\` with the places in a body that are wrong. Under \`/v1\` the code is in [the form of OpenAI or Anthropic](openai-api.md#errors).

<!-- made by \`bun site/reference.ts\` from the API documents of both surfaces -->

| Code | Status | Requests that answer with it | What it means |
|---|---|---|---|
${rows.join("\n")}

## Of several cells or machines

Any request may be answered so by a service with [several cells or machines](cluster.md):

| Code | Status | What it means |
|---|---|---|
${CLUSTER_CODES.map(([code, status, meaning]) => `| \`${code}\` | ${status} | ${meaning} |`).join("\n")}
`;
}

const CLUSTER_CODES = [
  [
    "CELL_AWAY",
    503,
    "The part of the service that has this account is starting. Nothing was done: try again after `retryAfter` seconds.",
  ],
  [
    "CELL_MOVED",
    503,
    "The part of the service that has this account is moving to another machine. What refused the request has done nothing of it: try again after `retryAfter` seconds, with the same `Idempotency-Key`, since a message that was stored a moment before is answered there.",
  ],
  [
    "RELAY_BROKEN",
    502,
    "The process or machine that handled the request ended in the middle. Whether it was done is not known: send it again with its `Idempotency-Key`, or look first.",
  ],
  [
    "RELAY_REFUSED",
    403,
    "A machine got a request on its backend port that claims to come from another machine, and does not. Clients never see it, unless they forge one.",
  ],
] as const;

/** The pages that people have written about Berth as it is. */
const GUIDES = listedPages().filter((path) => /^docs\/[\w-]+\.md$/.test(path) && !/\/(api|errors)\.md$/.test(path));
/** A code can be the answer of most requests. */
const SHOWN_REQUESTS = 3;

/** A table for each tag, in the order of the document. */
function operationsOf({ tags = [], paths }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const byTag = Map.groupBy(operations, ({ tags }) => tags?.[0] ?? "Other");
  const names = [...new Set([...tags.map(({ name }) => name), ...byTag.keys()])].filter((name) => byTag.has(name));
  return names
    .map((name) => {
      const rows = (byTag.get(name) ?? []).map(({ method, path, summary = "", deprecated }) => {
        return `| \`${method} ${path}\` | ${summary.replaceAll("|", "\\|")}${deprecated ? " (deprecated)" : ""} |`;
      });
      return [`## ${name}`, "", "| Request | |", "|---|---|", ...rows].join("\n");
    })
    .join("\n\n");
}

if (import.meta.main) {
  for (const { path, make } of referencePages) await Bun.write(join(root, path), await make());
}
