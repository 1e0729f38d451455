// The runtime of an agent: the version that it runs on, and the update to that of this server.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleArrowUp } from "lucide-react";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { agentKey } from "../agent.tsx";
import { backupsKey } from "./data.ts";

interface Updated {
  image: string;
  previousImage: string;
}

export function RuntimeSection({ agentId }: { agentId: string }) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: [...agentKey(agentId), "runtime"],
    queryFn: () => api.get<{ agent: { runtimeVersion: string } }>(path`/api/agents/${agentId}`),
  });
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<Updated>(path`/api/agents/${agentId}/update`, {}),
    onSuccess: ({ image, previousImage }) =>
      showToast(
        image === previousImage
          ? t("It was on the newest runtime already, and runs well.")
          : t("Updated to {image}.", { image }),
      ),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: backupsKey(agentId) }),
        client.invalidateQueries({ queryKey: agentKey(agentId) }),
      ]),
  });
  const wasUndone = error instanceof ApiError && error.code === "UPDATE_ROLLED_BACK";
  return (
    <Section
      title={t("Runtime")}
      hint={t("The program that the agent runs on. An update takes the newest one of this server.")}
      actions={
        <Button isBusy={isPending} onClick={() => mutate()}>
          <CircleArrowUp aria-hidden="true" />
          {isPending ? t("Updating, up to 15 seconds") : t("Update the runtime")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <p>
          {t("Version")} <span className="font-semibold">{data?.agent.runtimeVersion ?? "…"}</span>
        </p>
        <p className="max-w-prose text-soft text-sm">
          {t("A backup is written first. If the agent is not well within 15 seconds, the update is undone by itself.")}
        </p>
        {wasUndone && <p>{t("The agent runs as before.")}</p>}
        {error && <ErrorNote error={error} />}
      </div>
    </Section>
  );
}
