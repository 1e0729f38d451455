// Requests a challenge, lets the person answer it, and sends the proof.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { agentKey } from "../agent.tsx";
import type { Way } from "./ways.ts";

export interface Challenge {
  /** The text to sign, unchanged. */
  message: string;
  expiresAt: string;
  /** For the device. */
  options?: object;
}

export interface Proof {
  signature?: string;
  walletAddress?: string;
  attestationUid?: string;
}

export const requestChallenge = (agentId: string, way: Way) =>
  api.post<Challenge>(path`/api/agents/${agentId}/verification/challenge`, { verificationType: way });

/** `prove` makes the proof; its errors are shown where the mutation's are. */
export function useVerify(agentId: string, way: Way) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (prove: () => Promise<Proof>) =>
      api.post(path`/api/agents/${agentId}/verify`, { verificationType: way, ...(await prove()) }),
    onSuccess: () => showToast(t("The agent is verified.")),
    onSettled: () => client.invalidateQueries({ queryKey: agentKey(agentId) }),
  });
}
