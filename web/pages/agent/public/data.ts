// The settings of an agent's public page, and how they are changed.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";

/** `GET /api/agents/:id/public`. */
export interface PublicSettings {
  enabled: boolean;
  greeting: string;
  embedOrigins: string[];
  url: string;
}

export type PublicChange = Pick<PublicSettings, "enabled"> & Partial<Pick<PublicSettings, "greeting" | "embedOrigins">>;

const keyOf = (agentId: string) => ["agent", agentId, "public"] as const;
const pathOf = (agentId: string) => path`/api/agents/${agentId}/public`;

export const usePublicSettings = (agentId: string) =>
  useQuery({ queryKey: keyOf(agentId), queryFn: () => api.get<PublicSettings>(pathOf(agentId)) });

/** Shows the change at once, and takes it back when it is refused. */
export function useChangePublic(agentId: string) {
  const queries = useQueryClient();
  const queryKey = keyOf(agentId);
  return useMutation({
    mutationFn: (change: PublicChange) => api.put<PublicSettings>(pathOf(agentId), change),
    onMutate(change) {
      const before = queries.getQueryData<PublicSettings>(queryKey);
      if (before) queries.setQueryData<PublicSettings>(queryKey, { ...before, ...change });
      return before;
    },
    onSuccess: (saved) => void queries.setQueryData<PublicSettings>(queryKey, saved),
    onError: (_, __, before) => void queries.setQueryData(queryKey, before),
  });
}
