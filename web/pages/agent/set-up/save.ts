// Saves a set-up, but only over the version that it was made from.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { OVERVIEW_KEY } from "../../../data/agents.ts";
import { showToast } from "../../../parts/toast.tsx";
import { said, t } from "../../../viewer/language.ts";
import { type Agent, agentKey } from "../agent.tsx";
import { isEqual } from "../config/config-changes.ts";
import { type CurrentConfig, currentKey, versionsKey } from "../config/config-data.ts";
import type { SetUp, Stored } from "./draft.ts";

export interface Issue {
  path: string;
  message: string;
}

interface Answer {
  agent: Agent;
  warnings?: Issue[];
}

export function useSave(id: string) {
  const client = useQueryClient();
  return useMutation({
    async mutationFn({ next, from }: { next: SetUp; from: Stored }): Promise<Stored & { warnings: Issue[] }> {
      const isConfigured = !isEqual(next.config, from.config);
      const { agent, warnings = [] } = await api.patch<Answer>(path`/api/agents/${id}`, {
        ...(next.choice !== from.choice && { model: next.choice }),
        ...(isConfigured && { config: next.config, configVersion: from.version }),
      });
      client.setQueryData(agentKey(id), { agent });
      const inWords = warnings.map(({ path: at, message }) => ({ path: at, message: said(message) }));
      return { ...next, version: from.version + (isConfigured ? 1 : 0), warnings: inWords };
    },
    onSuccess({ version, config }) {
      client.setQueryData<CurrentConfig>(currentKey(id), { version, config });
      void client.invalidateQueries({ queryKey: versionsKey(id) });
      void client.invalidateQueries({ queryKey: OVERVIEW_KEY });
      showToast(t("Saved. It counts from the next message on."));
    },
    onError(error) {
      // What the other one has saved appears beside the changes here.
      if (isConflict(error)) void client.invalidateQueries({ queryKey: currentKey(id) });
    },
  });
}

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.code === "CONFIG_CHANGED";
