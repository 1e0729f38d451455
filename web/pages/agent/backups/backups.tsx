// The backups that are kept, with a way back to each.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { History, Save } from "lucide-react";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Rows } from "../../../parts/lists/rows.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatBytes, type Text, t, text, tn } from "../../../viewer/language.ts";
import { type Backup, backupsKey } from "./data.ts";
import { RollbackDialog } from "./rollback-dialog.tsx";

const REASONS: Readonly<Record<NonNullable<Backup["reason"]>, Text>> = {
  update: text("Before an update"),
  rollback: text("Before going back"),
  "reset-memory": text("Before forgetting everything"),
  manual: text("Made by you"),
};

export function Backups({ agentId }: { agentId: string }) {
  const client = useQueryClient();
  const [chosen, choose] = useState<Backup>();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: backupsKey(agentId),
    queryFn: () => api.get<{ backups: Backup[]; max: number }>(path`/api/agents/${agentId}/backups`),
  });
  const make = useMutation({
    mutationFn: () => api.post(path`/api/agents/${agentId}/backups`),
    onSuccess: () => showToast(t("The backup is written.")),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => client.invalidateQueries({ queryKey: backupsKey(agentId) }),
  });
  return (
    <Section
      title={t("Backups")}
      hint={t("Set-up, conversations, memory, reminders and channels as they were. Credentials stay sealed in them.")}
      actions={
        <Button look="primary" isBusy={make.isPending} onClick={() => make.mutate()}>
          <Save aria-hidden="true" />
          {t("Back up now")}
        </Button>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-24" />}
      {data?.backups.length === 0 && (
        <EmptyState title={t("No backup yet")}>
          {t(
            "One is written by itself before every update and before everything is forgotten. You can make one at any time.",
          )}
        </EmptyState>
      )}
      {data && data.backups.length > 0 && (
        <>
          <Rows
            label={t("Backups")}
            rows={data.backups}
            keyOf={(backup) => backup.path}
            columns="md:grid-cols-[14rem_minmax(0,1fr)_5rem_auto]"
          >
            {(backup) => (
              <>
                <span className="font-medium">
                  <When at={backup.createdAt} isExact />
                </span>
                <span>{backup.reason && t(REASONS[backup.reason])}</span>
                <span className="text-soft md:text-right">{formatBytes(backup.size)}</span>
                <Button onClick={() => choose(backup)}>
                  <History aria-hidden="true" />
                  {t("Go back to this")}
                </Button>
              </>
            )}
          </Rows>
          <p className="mt-4 text-soft text-sm">
            {tn("The newest one is kept.", "The newest {n} are kept.", data.max)}
          </p>
        </>
      )}
      {chosen && <RollbackDialog agentId={agentId} backup={chosen} onClose={() => choose(undefined)} />}
    </Section>
  );
}
