// Runs `berth pull`: writes an agent as agent.json or agent.yaml. Secrets are named as variables of the environment.
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { BerthError, type Client } from "../../../../../packages/client/src/index.ts";
import { referenceTo } from "../../../../../plugins/agents/as-code/agent-file.ts";
import { AppError } from "../../../../kernel/errors.ts";
import { type Flags, UsageError } from "../../options.ts";
import { cleanLine, findAgent, withService } from "../connection.ts";
import { type RemoteAgent, readRemoteAgent } from "./remote-agent.ts";
import { isYaml } from "./source.ts";

export const pullCommand = (wanted: string, path: string | undefined, flags: Flags): Promise<number> =>
  withService(flags, async (client) => {
    const { id } = await findAgent(client, wanted);
    const remote = await readRemoteAgent(client, id, {}).catch((error: unknown) => {
      if (!(error instanceof BerthError && error.code === "MISSING_SCOPE")) throw error;
      throw new AppError(
        403,
        error.code,
        "This key may not see which secrets an agent has. It needs the scopes read and write.",
      );
    });
    const file = fileOf(client, remote);
    const text = path !== undefined && isYaml(path) ? await yamlOf(file) : `${JSON.stringify(file, null, 2)}\n`;
    if (path === undefined) process.stdout.write(text);
    else await write(path, text, flags.yes === true);
    const names = remote.files.map(({ name }) => cleanLine(name));
    if (names.length > 0) {
      process.stderr.write(
        `berth: what the agent knows of files is not in it. Name them under knowledge, if you have them: ${names.join(", ")}\n`,
      );
    }
    return 0;
  });

function fileOf(client: Client, { agent, config, stored, channels }: RemoteAgent) {
  const bots = channels.map(({ channel }) => channel);
  const credentials = stored.filter((key) => !bots.includes(key));
  return {
    $schema: `${client.url}/schemas/agent.json`,
    name: agent.name,
    model: agent.model,
    running: agent.status !== "stopped",
    config,
    ...(credentials.length > 0 && {
      credentials: Object.fromEntries(credentials.map((key) => [key, referenceTo(variableFor(key))])),
    }),
    ...(channels.length > 0 && {
      channels: Object.fromEntries(
        channels.map(({ channel, ownerId }) => [
          channel,
          { token: referenceTo(`${channel.toUpperCase()}_TOKEN`), ...(ownerId !== null && { ownerId }) },
        ]),
      ),
    }),
  };
}

/** `provider_1` is the key of a provider; other names are variables already. */
const variableFor = (key: string) => (/^[A-Z]/.test(key) ? key : `${key.toUpperCase()}_KEY`);

async function yamlOf({ $schema, ...file }: { $schema: string }): Promise<string> {
  const { stringify } = await import("yaml");
  // Editors with a YAML language server read the schema's address from this line.
  return `# yaml-language-server: $schema=${$schema}\n${stringify(file)}`;
}

async function write(path: string, text: string, isOverwriting: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: isOverwriting ? "w" : "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST")
      throw new AppError(409, "EXISTS", `${path} exists. Give another name, or --yes to overwrite it.`);
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new UsageError(`There is no folder ${dirname(path)}. Make it, or give another name.`);
    throw code === "EISDIR" ? new UsageError(`${path} is a folder. Name a file in it.`) : error;
  }
  process.stdout.write(`Written: ${path}\n`);
}
