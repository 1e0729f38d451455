// Stops, restarts, repairs an agent, empties its memory, and deletes it.

import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { ActionRow } from "./action-row.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { useOperations } from "./use-operations.ts";

export default function DangerPage() {
  const agent = useAgent();
  const [isDeleting, setDeleting] = useState(false);
  const { run, isRunning, repairs } = useOperations(agent.id);
  const isStopped = agent.status === "stopped";
  return (
    <>
      <section aria-label={t("Start and stop")} className="mb-5 rounded-large border border-edge bg-card px-4">
        {isStopped ? (
          <ActionRow
            title={t("Start the agent")}
            explanation={t("Its channels connect again, and it answers what waits.")}
          >
            <Button look="primary" isBusy={isRunning("start")} onClick={() => run("start")}>
              {t("Start")}
            </Button>
          </ActionRow>
        ) : (
          <ActionRow
            title={t("Stop the agent")}
            explanation={t(
              "It leaves its channels and answers nobody until you start it. Messages that arrive on channels wait where the platform keeps them.",
            )}
          >
            <Button isBusy={isRunning("stop")} onClick={() => run("stop")}>
              {t("Stop")}
            </Button>
          </ActionRow>
        )}
        <ActionRow
          title={t("Restart")}
          explanation={t("Connects all channels anew. A model that is offered no more is replaced by one that is.")}
        >
          <Button isBusy={isRunning("restart")} onClick={() => run("restart")}>
            {t("Restart")}
          </Button>
        </ActionRow>
        <ActionRow
          title={t("Repair")}
          explanation={t(
            "Looks for what is broken in the agent's data, mends it, and says what it was. Nothing is lost.",
          )}
          result={repairs && <Repairs repairs={repairs} />}
        >
          <Button isBusy={isRunning("repair")} onClick={() => run("repair")}>
            {t("Check and repair")}
          </Button>
        </ActionRow>
      </section>
      <section aria-label={t("Danger zone")} className="mb-5 rounded-large border border-bad bg-card px-4">
        <ActionRow
          title={t("Forget everything")}
          explanation={t(
            "Deletes conversations, memory and reminders. Set-up, channels and credentials stay. A backup is written first.",
          )}
        >
          <Button look="danger" isBusy={isRunning("reset-memory")} onClick={() => run("reset-memory")}>
            {t("Forget everything")}
          </Button>
        </ActionRow>
        <ActionRow
          title={t("Delete the agent")}
          explanation={t("Everything of it goes, its backups too. This can't be undone.")}
        >
          <Button look="danger" onClick={() => setDeleting(true)}>
            {t("Delete…")}
          </Button>
        </ActionRow>
      </section>
      {isDeleting && <DeleteDialog agent={agent} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Repairs({ repairs }: { repairs: readonly string[] }) {
  if (repairs.length === 0) return <p>{t("Nothing had to be repaired.")}</p>;
  return (
    <>
      <p>{t("Repaired:")}</p>
      <ul className="list-disc pl-5">
        {repairs.map((repair) => (
          <li key={repair}>{repair}</li>
        ))}
      </ul>
    </>
  );
}
