// Runs the operations of an agent's life cycle and says what came of them.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { agentKey } from "../agent.tsx";

type Operation = "start" | "stop" | "restart" | "repair" | "reset-memory";

interface Answer {
  healMessage?: string | null;
  repaired?: string[];
  backupPath?: string;
}

export function useOperations(agentId: string) {
  const client = useQueryClient();
  const [repairs, setRepairs] = useState<string[]>();
  const refresh = () => client.invalidateQueries({ queryKey: agentKey(agentId) });
  const request = <T>(operation: string, body: object = {}) =>
    api.post<T>(path`/api/agents/${agentId}/${operation}`, body);

  const goBack = async (backupPath: string) => {
    try {
      await request("rollback", { backupPath });
      showToast(t("Everything is there again."));
    } catch (error) {
      showError(messageOf(error));
    }
    await refresh();
  };

  function tell(operation: Operation, { healMessage, repaired, backupPath }: Answer): void {
    if (operation === "start") showToast(t("The agent is up."));
    if (operation === "stop") {
      showToast(t("The agent is stopped."), { label: t("Undo"), run: () => mutate("start") });
    }
    if (operation === "restart") {
      showToast(healMessage ? t("Restarted, with another model: {change}", { change: healMessage }) : t("Restarted."));
    }
    if (operation === "repair") setRepairs(repaired ?? []);
    if (operation === "reset-memory" && backupPath !== undefined) {
      showToast(t("The agent has forgotten everything."), { label: t("Undo"), run: () => void goBack(backupPath) });
    }
  }

  const { mutate, isPending, variables } = useMutation({
    mutationFn: (operation: Operation) => request<Answer>(operation),
    onSuccess: (answer, operation) => tell(operation, answer),
    onError: (error) => showError(messageOf(error)),
    onSettled: refresh,
  });
  return { run: mutate, isRunning: (operation: Operation) => isPending && variables === operation, repairs };
}
