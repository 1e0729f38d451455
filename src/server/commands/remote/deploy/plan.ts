// Compares agent.json with an agent, and plans the changes: each with a text for people and the requests that make it.
import type { Client } from "../../../../../packages/client/src/index.ts";
import { variableOf } from "../../../../../plugins/agents/as-code/agent-file.ts";
import type { RemoteAgent } from "./remote-agent.ts";
import type { LocalFile, Source } from "./source.ts";

export interface Change {
  action: "create" | "change" | "delete";
  /** Where in the file, such as `config.temperature`. */
  path: string;
  /** What changes, without secrets. */
  text: string;
}

/** One or several changes that are made at once. `run` may be repeated. */
interface Step {
  changes: Change[];
  run(client: Client, agentId: string): Promise<void>;
}

export interface Plan {
  /** Undefined: the agent will be made, with the first step. */
  agentId: string | undefined;
  steps: Step[];
  /** Members of the file that are already so. */
  unchanged: string[];
}

/** The values of the secrets of a file, by the keys of credentials and the ids of channels. */
export function secretsOf({ file, secrets }: Source): Record<string, string> {
  const references = [
    ...(file.credentials ?? []),
    ...Object.entries(file.channels ?? {}).map(
      ([channel, connection]) => [channel, connection?.token ?? null] as const,
    ),
  ];
  return Object.fromEntries(
    references.flatMap(([key, reference]) =>
      reference === null ? [] : [[key, secrets.get(variableOf(reference)) ?? ""]],
    ),
  );
}

export function planOf(source: Source, remote: RemoteAgent | undefined): Plan {
  const { file } = source;
  const steps: Step[] = [];
  const unchanged: string[] = [];
  const add = (path: string, step: Step | undefined) => (step ? void steps.push(step) : void unchanged.push(path));
  add("agent", agentStep(source, remote));
  for (const [key, reference] of file.credentials ?? [])
    add(`credentials.${key}`, credentialStep(source, remote, key, reference));
  for (const channel of Object.keys(file.channels ?? {}))
    add(`channels.${channel}`, channelStep(source, remote, channel));
  for (const local of source.knowledge) add(`knowledge ${local.name}`, fileStep(local, remote));
  if (file.running !== undefined) add("running", runningStep(file.running, remote));
  return { agentId: remote?.agent.id, steps, unchanged };
}

/** Name, model and configuration are one write: a file that the service refuses changes nothing. */
function agentStep({ file }: Source, remote: RemoteAgent | undefined): Step | undefined {
  const { name, model, config } = file;
  if (!remote) {
    return {
      changes: [
        { action: "create", path: "agent", text: name },
        ...(model === undefined ? [] : [{ action: "create" as const, path: "model", text: model }]),
        ...(config === undefined ? [] : differences({}, config, "config")),
      ],
      // Made by `deploy`, which needs the id.
      run: async () => undefined,
    };
  }
  const { agent, configVersion } = remote;
  const changes = [
    ...(name === agent.name ? [] : [changeOf("name", agent.name, name)]),
    ...(model === undefined || model === agent.model ? [] : [changeOf("model", agent.model, model)]),
    ...(config === undefined ? [] : differences(remote.config, config, "config")),
  ];
  if (changes.length === 0) return undefined;
  const isConfigured = changes.some(({ path }) => path.startsWith("config"));
  const change = {
    name,
    ...(model !== undefined && { model }),
    ...(isConfigured && config && { config, configVersion }),
  };
  return { changes, run: async (client, id) => void (await client.agents.change(id, change)) };
}

function credentialStep(
  { secrets }: Source,
  remote: RemoteAgent | undefined,
  key: string,
  reference: string | null,
): Step | undefined {
  const path = `credentials.${key}`;
  const isStored = remote?.stored.includes(key) ?? false;
  if (reference === null) {
    if (!isStored) return undefined;
    return {
      changes: [{ action: "delete", path, text: "" }],
      run: (client, id) => client.agents.setCredential(id, key, ""),
    };
  }
  if (remote?.matching.includes(key)) return undefined;
  const variable = variableOf(reference);
  const value = secrets.get(variable) ?? "";
  return {
    changes: [{ action: isStored ? "change" : "create", path, text: `secret, from ${variable}` }],
    run: (client, id) => client.agents.setCredential(id, key, value),
  };
}

function channelStep({ file, secrets }: Source, remote: RemoteAgent | undefined, channel: string): Step | undefined {
  const path = `channels.${channel}`;
  const connected = remote?.channels.find((one) => one.channel === channel);
  const wanted = Object.entries(file.channels ?? {}).find(([id]) => id === channel)?.[1];
  const route = (id: string) => `/api/agents/${encodeURIComponent(id)}/channels/${channel}`;
  if (!wanted) {
    if (!connected) return undefined;
    const run = async (client: Client, id: string) => void (await client.request("DELETE", route(id)));
    return { changes: [{ action: "delete", path, text: "disconnect the bot" }], run };
  }
  const { token, ownerId } = wanted;
  if (token === undefined) return undefined;
  const isSameOwner = ownerId === undefined || ownerId === connected?.ownerId;
  if (connected && isSameOwner && remote?.matching.includes(channel)) return undefined;
  const variable = variableOf(token);
  const owner = ownerId === undefined ? "" : `, owner ${ownerId}`;
  const body = { token: secrets.get(variable) ?? "", ...(ownerId !== undefined && { ownerId }) };
  return {
    changes: [{ action: connected ? "change" : "create", path, text: `token: secret, from ${variable}${owner}` }],
    run: async (client, id) => void (await client.request("PUT", route(id), { body })),
  };
}

/** The new file comes before the old one goes, so that the agent always knows one of them. */
function fileStep({ name, path, digest }: LocalFile, remote: RemoteAgent | undefined): Step | undefined {
  const same = (remote?.files ?? []).filter(
    (file) => file.name === name && file.url === null && file.source === "owner",
  );
  const current = same.find((file) => file.digest === digest);
  const outdated = same.filter((file) => file !== current);
  if (current && outdated.length === 0) return undefined;
  const action = current ? "delete" : same.length > 0 ? "change" : "create";
  return {
    changes: [{ action, path: `knowledge ${name}`, text: current ? "an earlier version" : "" }],
    async run(client, id) {
      if (!current) await client.files.add(id, Bun.file(path), name);
      for (const file of outdated) await client.files.delete(id, file.id);
    },
  };
}

function runningStep(running: boolean, remote: RemoteAgent | undefined): Step | undefined {
  const status = remote?.agent.status;
  const isRunning = status !== "stopped" && status !== "error";
  if (running === isRunning) return undefined;
  return {
    changes: [{ action: "change", path: "running", text: running ? "start" : "stop" }],
    run: async (client, id) => void (running ? await client.agents.start(id) : await client.agents.stop(id)),
  };
}

/** The members that differ, down to those that are no objects. */
function differences(before: unknown, after: unknown, path: string): Change[] {
  if (Bun.deepEquals(before, after, true)) return [];
  if (!isObject(before) || !isObject(after)) return [changeOf(path, before, after)];
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => differences(Reflect.get(before, name), Reflect.get(after, name), `${path}.${name}`));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function changeOf(path: string, before: unknown, after: unknown): Change {
  if (before === undefined) return { action: "create", path, text: shown(after) };
  if (after === undefined) return { action: "delete", path, text: shown(before) };
  return { action: "change", path, text: `${shown(before)} → ${shown(after)}` };
}

const MAX_SHOWN = 60;
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
}
