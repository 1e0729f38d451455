// Asks before a person is erased from an agent, and says what that means.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { platformName } from "../../../parts/values/platform.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { nameOf, type Person, pathOf, type Receipt, receiptsKey } from "./data.ts";

export function EraseDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const agent = useAgent();
  const client = useQueryClient();
  const name = nameOf(person);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.delete<Receipt>(pathOf(agent.id, person)),
    onSuccess: () => {
      onClose();
      showToast(t("{name} is erased. The receipt is below.", { name }));
    },
    // It goes on although the connection may be lost.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["agent", agent.id] }),
        client.invalidateQueries({ queryKey: receiptsKey(agent.id) }),
      ]),
  });
  return (
    <FormDialog
      title={t("Erase {name}?", { name })}
      action={t("Erase for good")}
      look="danger"
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={error}
    >
      <p className="text-soft text-sm">
        {platformName(person.channel)} · {person.id}
      </p>
      <p>
        {t(
          "What they wrote to {agent} and were answered goes, with facts, reminders and files of these conversations. In a group the words of others stay.",
          { agent: agent.name },
        )}
      </p>
      <p>
        {t(
          "The agent’s backups of that time go too; one of its present state takes their place. Its turns wait for a moment. This can’t be undone.",
        )}
      </p>
    </FormDialog>
  );
}
