// What an agent does by itself at set times: the list, the editor, the history of each.

import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { api, path } from "../../../api/api.ts";
import { randomKey } from "../../../api/random-key.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { lazyDialog } from "../../../parts/lazy.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast, withUndo } from "../../../parts/toast.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useConversationNames } from "../conversations.ts";
import { type Schedule, schedulesKey, useSchedules } from "./data.ts";
import { ScheduleRow } from "./schedule-row.tsx";

const Editor = lazyDialog(async () => ({ default: (await import("./editor.tsx")).Editor }));
/** In the address, instead of an id. */
const NEW = "new";

export default function SchedulesPage() {
  const { id: agentId, name } = useAgent();
  const client = useQueryClient();
  const queryKey = schedulesKey(agentId);
  const { data: schedules, error, refetch } = useSchedules(agentId);
  const nameOf = useConversationNames(agentId);
  const [opened, setOpened] = useParameter("history");
  const [edited, setEdited] = useParameter("edit");
  const addressOf = ({ id }: Schedule) => path`/api/agents/${agentId}/schedules/${id}`;

  /** Changes what is shown at once; returns the function that puts it back. */
  function show(map: (list: Schedule[]) => Schedule[]): () => void {
    const before = client.getQueryData<Schedule[]>(queryKey);
    client.setQueryData<Schedule[]>(queryKey, (list) => list && map(list));
    return () => client.setQueryData(queryKey, before);
  }

  async function switchTo(schedule: Schedule, enabled: boolean): Promise<void> {
    const undo = show((list) => list.map((one) => (one.id === schedule.id ? { ...one, enabled } : one)));
    try {
      await api.patch(addressOf(schedule), { enabled });
      await client.invalidateQueries({ queryKey });
    } catch (refused) {
      undo();
      showError(messageOf(refused));
    }
  }

  async function run(schedule: Schedule): Promise<void> {
    try {
      await api.post(`${addressOf(schedule)}/run`, undefined, { idempotencyKey: randomKey() });
      showToast(t("{name} runs now", { name: schedule.name }));
      setOpened(schedule.id);
      await client.invalidateQueries({ queryKey: ["agent", agentId] });
    } catch (refused) {
      showError(messageOf(refused));
    }
  }

  const remove = (schedule: Schedule) =>
    withUndo(
      t("{name} is deleted", { name: schedule.name }),
      () => show((list) => list.filter(({ id }) => id !== schedule.id)),
      () => api.delete(addressOf(schedule)),
    );

  const targetOf = ({ deliver }: Schedule) => {
    if (deliver === null) return t("its own conversation");
    return "webhook" in deliver ? t("your webhooks") : nameOf(`${deliver.platform}:${deliver.peer}`);
  };

  const isEditing = edited === NEW || schedules?.some(({ id }) => id === edited);
  const add = (
    <Button look="primary" onClick={() => setEdited(NEW)}>
      <Plus aria-hidden="true" />
      {t("New schedule")}
    </Button>
  );
  return (
    <Section
      title={t("Schedules")}
      hint={t("What {name} does by itself at set times. Times are shown in yours.", { name })}
      actions={schedules && schedules.length > 0 && add}
    >
      {error && !schedules && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!schedules && !error && (
        <div className="flex flex-col gap-3" role="status">
          <span className="sr-only">{t("Loading…")}</span>
          <Skeleton className="h-16" />
          <Skeleton className="h-16" />
        </div>
      )}
      {schedules?.length === 0 && (
        <EmptyState title={t("Nothing planned")} action={add}>
          {t(
            "Let {name} tell you the weather each morning, sum up the week on Fridays, or look after something every hour. You can also say it in a chat: “every weekday at eight, send me the news.”",
            { name },
          )}
        </EmptyState>
      )}
      {schedules && schedules.length > 0 && (
        <ul aria-label={t("Schedules")} className="-m-4 flex flex-col">
          {schedules.map((schedule) => (
            <ScheduleRow
              key={schedule.id}
              agentId={agentId}
              schedule={schedule}
              target={targetOf(schedule)}
              isOpen={opened === schedule.id}
              onOpen={() => setOpened(opened === schedule.id ? "" : schedule.id)}
              onSwitch={(isOn) => void switchTo(schedule, isOn)}
              onRun={() => void run(schedule)}
              onEdit={() => setEdited(schedule.id)}
              onDelete={() => remove(schedule)}
            />
          ))}
        </ul>
      )}
      {isEditing && (
        <Editor
          key={edited}
          agentId={agentId}
          schedule={schedules?.find(({ id }) => id === edited)}
          onClose={() => setEdited("")}
          onSaved={() => {
            setEdited("");
            void client.invalidateQueries({ queryKey });
          }}
        />
      )}
    </Section>
  );
}
