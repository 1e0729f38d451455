// Loads the versions of an agent's configuration.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import type { Config } from "./config-changes.ts";

/** An item of `GET /api/agents/:id/config/versions`. */
export interface ConfigVersion {
  version: number;
  bytes: number;
  savedAt: string;
  current: boolean;
  imported: boolean;
}

/** The configuration in force, with the version that a save names. */
export interface CurrentConfig {
  version: number;
  config: Config;
}

const configKey = (id: string) => ["agent", id, "config"] as const;
export const versionsKey = (id: string) => [...configKey(id), "versions"] as const;
export const currentKey = (id: string) => [...configKey(id), "current"] as const;

const loadVersions = (id: string) =>
  api.get<{ versions: ConfigVersion[] }>(path`/api/agents/${id}/config/versions`).then(({ versions }) => versions);

const loadVersion = (id: string, version: number) =>
  api.get<{ config: Config }>(path`/api/agents/${id}/config/versions/${version}`).then(({ config }) => config);

/** Reads again what the configuration is when it changes elsewhere. */
function useConfigLive(id: string): void {
  useLive(configKey(id), ["agent.updated"], ({ data }) => data.id === id);
}

export function useCurrentConfig(id: string) {
  useConfigLive(id);
  return useQuery({
    queryKey: currentKey(id),
    async queryFn(): Promise<CurrentConfig> {
      const [newest] = await loadVersions(id);
      return newest
        ? { version: newest.version, config: await loadVersion(id, newest.version) }
        : { version: 0, config: {} };
    },
  });
}

export function useVersions(id: string) {
  useConfigLive(id);
  return useQuery({ queryKey: versionsKey(id), queryFn: () => loadVersions(id) });
}

/** The configuration of one version, which never changes. */
export const useVersion = (id: string, version: number | undefined) =>
  useQuery({
    queryKey: ["agent", id, "config-version", version],
    queryFn: () => loadVersion(id, version ?? 0),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
