// The agent's configuration, for pages that change a part of it.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";

type Config = Record<string, unknown>;
interface Configuration {
  config: Config;
  version: number;
  /** It came in a file: saving it says that its owner has read it. */
  imported: boolean;
}

async function load(agentId: string): Promise<Configuration> {
  const [{ config }, { versions }] = await Promise.all([
    api.get<{ config: Config }>(path`/api/agents/${agentId}/config`),
    api.get<{ versions: { version: number; imported: boolean }[] }>(path`/api/agents/${agentId}/config/versions`),
  ]);
  return { config, version: versions[0]?.version ?? 0, imported: versions[0]?.imported ?? false };
}

export function useConfiguration(agentId: string) {
  const client = useQueryClient();
  const queryKey = ["agent", agentId, "configuration"] as const;
  const query = useQuery({ queryKey, queryFn: () => load(agentId) });
  const { mutate, mutateAsync } = useMutation({
    // Changes are made one after the other, each to the result of the one before.
    scope: { id: `configuration of ${agentId}` },
    async mutationFn(change: (config: Config) => Config) {
      const { config, version } = await client.ensureQueryData({ queryKey, queryFn: () => load(agentId) });
      const changed = change(config);
      client.setQueryData<Configuration>(queryKey, (before) => before && { ...before, config: changed });
      // The version makes the server refuse this if somebody else has changed the configuration.
      await api.patch(path`/api/agents/${agentId}`, { config: changed, configVersion: version });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["agent", agentId] }),
  });
  return {
    ...query,
    /** Saves a change, and says why if it is refused. */
    save: (change: (config: Config) => Config) =>
      mutate(change, { onError: (refused) => showError(messageOf(refused)) }),
    /** Saves a change, and rejects if it is refused. */
    saveNow: mutateAsync,
  };
}

/** The configuration with another value of one key; without the key if the value is empty. */
export function withKey(config: Config, key: string, value: object): Config {
  const { [key]: _, ...rest } = config;
  return Object.keys(value).length > 0 ? { ...rest, [key]: value } : rest;
}
