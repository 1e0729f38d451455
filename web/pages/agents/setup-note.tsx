// Reminds a newcomer of the steps of the first run that are still open, until they are done or left out.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { showError } from "../../parts/toast.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { t, tn } from "../../viewer/language.ts";

interface Setup {
  steps: { id: string; status: "done" | "skipped" | "open" }[];
  /** The person's plan has room for one more. */
  canMakeAgents: boolean;
  agent: object | null;
}

const KEY = ["setup"] as const;

export function useSetup() {
  useLive(KEY, ["user.updated"]);
  return useQuery({ queryKey: KEY, queryFn: () => api.get<Setup>("/api/setup"), staleTime: 60_000 });
}

export function SetupNote() {
  const client = useQueryClient();
  const { data } = useSetup();
  const skip = useMutation({
    mutationFn: (steps: string[]) => api.put<Setup>("/api/setup/skipped", { steps }),
    onSuccess: (setup) => client.setQueryData(KEY, setup),
    onError: (error) => showError(messageOf(error)),
  });
  const open = data?.steps.filter(({ status }) => status === "open") ?? [];
  // Without room for an agent the tour would end at its first step.
  if (open.length === 0 || !(data?.canMakeAgents || data?.agent)) return null;
  const left = data?.steps.filter(({ id, status }) => id !== "account" && status !== "done").map(({ id }) => id) ?? [];
  return (
    <aside aria-label={t("First steps")} className="mt-5">
      <Notice>
        <p>
          {tn("One step of the tour is left.", "{n} steps of the tour are left.", open.length)}{" "}
          {t("It takes a minute or two.")}
        </p>
        <div className="flex flex-wrap gap-2">
          <ButtonLink href="/welcome">{t("Go on with the tour")}</ButtonLink>
          <Button look="bare" isBusy={skip.isPending} onClick={() => skip.mutate(left)}>
            {t("Leave it out")}
          </Button>
        </div>
      </Notice>
    </aside>
  );
}
