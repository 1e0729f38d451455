// The button by which an admin freezes an agent, or lets it go on. One that is frozen with its account goes on with that.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Snowflake } from "lucide-react";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import type { FleetAgent } from "../api-types.ts";
import { FreezeDialog } from "../freeze-dialog.tsx";

export function FreezeAgent({ agent: { id, name, frozen } }: { agent: FleetAgent }) {
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const readAgain = () => void client.invalidateQueries({ queryKey: ["admin", "agents"] });
  const unfreeze = useMutation({
    mutationFn: () => api.post(path`/api/admin/agents/${id}/unfreeze`),
    onSuccess: () => showToast(t("{name} goes on.", { name })),
    onError: (error) => showError(messageOf(error)),
    onSettled: readAgain,
  });
  if (frozen === "account") return null;
  if (frozen === "agent") {
    return (
      <Button
        isBusy={unfreeze.isPending}
        aria-label={`${t("Let it go on")}: ${name}`}
        onClick={() => unfreeze.mutate()}
      >
        {t("Let it go on")}
      </Button>
    );
  }
  return (
    <>
      <IconButton label={`${t("Freeze")}: ${name}`} onClick={() => setOpen(true)}>
        <Snowflake />
      </IconButton>
      {isOpen && (
        <FreezeDialog
          title={t("Freeze {name}?", { name })}
          effects={t(
            "It falls silent at once, with its bots, stream and schedules. Messages wait, and people on channels are told once. Its owner can't start it.",
          )}
          path={path`/api/admin/agents/${id}/freeze`}
          onDone={() => {
            readAgain();
            showToast(t("{name} is frozen.", { name }));
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
