// How far the person has come with the first run, and which steps they left out.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLocation } from "wouter";
import { api } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { type Text, text } from "../../../viewer/language.ts";

export type StepId = "model" | "agent" | "talk" | "channel";
export type StepStatus = "done" | "skipped" | "open";

export interface Setup {
  steps: { id: StepId | "account"; status: StepStatus }[];
  serving: "own" | "demo";
  canMakeAgents: boolean;
  agent: { id: string; name: string } | null;
}

export interface Step {
  id: StepId;
  status: StepStatus;
  label: Text;
}

export const SETUP_KEY = ["setup"] as const;

const LABELS: Readonly<Record<StepId, Text>> = {
  model: text("A model"),
  agent: text("Your first agent"),
  talk: text("The first talk"),
  channel: text("Telegram"),
};

/** The steps, the one of the address, and the ways on. */
export function useSetup() {
  const { data, error, refetch } = useQuery({ queryKey: SETUP_KEY, queryFn: () => api.get<Setup>("/api/setup") });
  useLive(SETUP_KEY, ["agent.", "channel.", "user.updated"]);
  const client = useQueryClient();
  const [wanted] = useParameter("step");
  const [, navigate] = useLocation();
  const steps: Step[] = (data?.steps ?? []).flatMap(({ id, status }) =>
    id === "account" ? [] : [{ id, status, label: LABELS[id] }],
  );
  const current = steps.find(({ id }) => id === wanted)?.id;
  const step = current ?? (wanted === "done" ? "done" : (steps.find(({ status }) => status === "open")?.id ?? "done"));

  // A step stays until the person goes on, also when it is done meanwhile.
  useEffect(() => {
    if (data && wanted !== step) navigate(`/welcome?step=${step}`, { replace: true });
  }, [data, wanted, step, navigate]);

  /** To the next step after this one that is not done; the person may have come back to an earlier one. */
  async function goOn(after: StepId): Promise<void> {
    const fresh = await refetch();
    const index = steps.findIndex(({ id }) => id === after);
    const later = steps.slice(index + 1).map(({ id }) => id);
    const statusOf = (id: StepId) => fresh.data?.steps.find((one) => one.id === id)?.status;
    navigate(`/welcome?step=${later.find((id) => statusOf(id) === "open") ?? "done"}`);
  }

  async function skip(id: StepId): Promise<void> {
    const skipped = steps.filter((one) => one.status === "skipped" || one.id === id).map((one) => one.id);
    try {
      client.setQueryData(SETUP_KEY, await api.put<Setup>("/api/setup/skipped", { steps: skipped }));
      await goOn(id);
    } catch (failure) {
      showError(messageOf(failure));
    }
  }

  return { setup: data, error, refetch, steps, step, goOn, skip };
}
