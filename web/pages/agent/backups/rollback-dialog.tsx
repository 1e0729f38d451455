// Asks before an agent goes back to a backup, and says what that means.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";
import { agentKey } from "../agent.tsx";
import { type Backup, backupsKey } from "./data.ts";

interface Props {
  agentId: string;
  backup: Backup;
  onClose: () => void;
}

export function RollbackDialog({ agentId, backup, onClose }: Props) {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post(path`/api/agents/${agentId}/rollback`, { backupPath: backup.path }),
    onSuccess: () => {
      showToast(t("The agent is as it was then. What it was before is the newest backup now."));
      onClose();
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: backupsKey(agentId) }),
        client.invalidateQueries({ queryKey: agentKey(agentId) }),
      ]),
  });
  return (
    <FormDialog
      title={t("Go back to this backup?")}
      action={t("Go back")}
      isBusy={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <p>
        {t("The agent becomes as it was at this time:")} <When at={backup.createdAt} isExact />.
      </p>
      <ul className="list-disc pl-5">
        <li>{t("Conversations, memory, set-up and channels of today are replaced.")}</li>
        <li>{t("Today's state is backed up first, so that you can come back to it.")}</li>
        <li>{t("Whether it runs, its address and its keys for the API stay as they are.")}</li>
      </ul>
    </FormDialog>
  );
}
