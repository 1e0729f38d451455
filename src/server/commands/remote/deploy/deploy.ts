// Runs `berth deploy`: shows what would change, asks, and makes an agent as agent.json says. A second run changes nothing.
import { createInterface } from "node:readline/promises";
import type { Client } from "../../../../../packages/client/src/index.ts";
import { AppError } from "../../../../kernel/errors.ts";
import { redactForms } from "../../../../kernel/telemetry/redact.ts";
import { type Flags, UsageError } from "../../options.ts";
import { cleanLine, findAgent, toAppError, withService } from "../connection.ts";
import { type Change, type Plan, planOf, secretsOf } from "./plan.ts";
import { readRemoteAgent } from "./remote-agent.ts";
import { readSource, type Source } from "./source.ts";

/** Exit code of a dry run that has found something to change. */
const WOULD_CHANGE = 3;
const SIGNS = { create: "+", change: "~", delete: "-" } as const;

export async function deployCommand(path: string, flags: Flags): Promise<number> {
  const isDryRun = flags["dry-run"] === true;
  const isSure = flags.yes === true;
  if (flags.json === true && !isDryRun && !isSure)
    throw new UsageError("--json asks nothing: give --yes or --dry-run with it.");
  // All that can be wrong with the file is known before the service is asked.
  const source = await readSource(path);
  for (const { path: at, message } of source.warnings)
    process.stderr.write(`berth: ${cleanLine(`${at}: ${message}`)}\n`);

  return withService(flags, async (client) => {
    const wanted = typeof flags.agent === "string" ? flags.agent : undefined;
    const agentId =
      wanted === undefined ? await findByName(client, source.file.name) : (await findAgent(client, wanted)).id;
    const remote = agentId === undefined ? undefined : await readRemoteAgent(client, agentId, secretsOf(source));
    const plan = planOf(source, remote);
    const changes = plan.steps.flatMap((step) => step.changes);
    const isJson = flags.json === true;
    if (!isJson) process.stdout.write(textOf(plan, source, client.url));
    if (changes.length > 0 && !isDryRun && !isSure && !(await isConfirmed())) {
      process.stdout.write("Nothing was changed.\n");
      return 1;
    }
    const isApplied = changes.length > 0 && !isDryRun;
    const id = isApplied ? await apply(client, plan, source) : agentId;
    if (isJson)
      printJson({ url: client.url, agentId: id ?? null, changes, unchanged: plan.unchanged, applied: isApplied });
    else if (isApplied) process.stdout.write(`Done: ${client.url}/agents/${id}\n`);
    return isDryRun && changes.length > 0 ? WOULD_CHANGE : 0;
  });
}

/** The agent of this name; undefined if there is none. */
async function findByName(client: Client, name: string): Promise<string | undefined> {
  try {
    return (await findAgent(client, name)).id;
  } catch (error) {
    if (error instanceof AppError && error.code === "AGENT_NOT_FOUND") return undefined;
    if (error instanceof AppError && error.code === "AMBIGUOUS") {
      throw new AppError(409, error.code, `${error.message}, with --agent.`);
    }
    throw error;
  }
}

/** Makes the changes in order; resolves with the agent's id. Each step can be repeated, so a deployment that broke off goes on. */
async function apply(client: Client, { agentId, steps }: Plan, { file }: Source): Promise<string> {
  let id = agentId;
  let done = 0;
  try {
    if (id === undefined) {
      const { name, model, config } = file;
      const { agent } = await client.agents.create({ name, ...(model && { model }), ...(config && { config }) });
      id = agent.id;
    }
    for (const step of steps) {
      await step.run(client, id);
      done++;
    }
    return id;
  } catch (error) {
    const known = toAppError(error, client.url);
    if (!(known instanceof AppError)) throw error;
    const at = steps[done]?.changes[0]?.path ?? "agent";
    const rest =
      done === 0 ? "Nothing was changed." : `${done} of ${steps.length} steps were done; run it again to go on.`;
    throw new AppError(known.status, known.code, `${at}: ${known.message} ${rest}`);
  }
}

function textOf({ agentId, steps, unchanged }: Plan, { file }: Source, url: string): string {
  const name = cleanLine(file.name);
  if (steps.length === 0) return `${name} at ${url} is as the file says. Nothing to change.\n`;
  const head =
    agentId === undefined ? `${name} will be made at ${url}:` : `${name} at ${url} (${agentId}) will change:`;
  const lines = steps.flatMap(({ changes }) => changes.map(lineOf));
  const rest =
    unchanged.length > 0 ? `  = ${unchanged.length} unchanged: ${unchanged.map(cleanLine).join(", ")}\n` : "";
  return redactForms(`${head}\n\n${lines.join("")}${rest}\n`);
}

const lineOf = ({ action, path, text }: Change) =>
  `  ${SIGNS[action]} ${cleanLine(text === "" ? path : `${path}: ${text}`)}\n`;

const printJson = (result: object) => void process.stdout.write(`${redactForms(JSON.stringify(result, null, 2))}\n`);

async function isConfirmed(): Promise<boolean> {
  if (process.stdin.isTTY !== true) throw new UsageError("There is no terminal to ask at. Give --yes, or --dry-run.");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question("Do this? [y/N] ")).trim());
  } finally {
    lines.close();
  }
}
