// The versions of an agent's configuration: what each one changed, and how to go back to it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatBytes, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { ChangesView } from "../config/changes-view.tsx";
import { type ConfigVersion, currentKey, useVersion, useVersions, versionsKey } from "../config/config-data.ts";

export default function HistoryPage() {
  const { id } = useAgent();
  const { data: versions, error, refetch } = useVersions(id);
  const [chosen, setChosen] = useParameter("version");
  const [against, setAgainst] = useParameter("against");
  if (error && !versions) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!versions) return <Skeleton className="h-96" />;
  const shown = versions.find(({ version }) => String(version) === chosen) ?? versions[0];
  if (!shown || versions.length < 2) {
    return (
      <EmptyState title={t("No history yet")}>
        {t("Each time you save the set-up, the version before stays here: compare it, and go back to it if you like.")}
      </EmptyState>
    );
  }
  const current = versions[0];
  const previous = versions[versions.indexOf(shown) + 1];
  const isAgainstCurrent = against === "current" && shown !== current;
  const [older, newer] = isAgainstCurrent ? [shown, current] : [previous, shown];
  return (
    <div className="grid items-start gap-x-5 lg:grid-cols-[15rem_minmax(0,1fr)]">
      <Section title={t("Versions")}>
        <ul className="-m-2 flex max-h-64 flex-col gap-0.5 overflow-y-auto lg:max-h-none">
          {versions.map((one) => (
            <li key={one.version}>
              <button
                type="button"
                aria-pressed={one === shown}
                onClick={() => setChosen(one === current ? "" : String(one.version))}
                className="w-full rounded-round px-2 py-1.5 text-left transition-colors hover:bg-hover aria-pressed:bg-wash"
              >
                <span className="flex items-center gap-2">
                  <span className="font-medium">{t("Version {n}", { n: one.version })}</span>
                  {one.current && <Badge tone="good">{t("in force")}</Badge>}
                  {one.imported && <Badge tone="warn">{t("imported")}</Badge>}
                </span>
                <span className="block text-soft text-sm">
                  <When at={one.savedAt} /> · {formatBytes(one.bytes)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Section>
      <Section
        title={newer ? title(older, newer) : ""}
        hint={<When at={shown.savedAt} isExact />}
        actions={
          <div className="flex flex-wrap items-center gap-2">
            {shown !== current && (
              <>
                <Choice
                  label={t("Compare with")}
                  value={isAgainstCurrent ? "current" : "previous"}
                  onChange={(value) => setAgainst(value === "current" ? "current" : "")}
                  options={[
                    { value: "previous", label: t("The one before") },
                    { value: "current", label: t("Now") },
                  ]}
                />
                <Restore id={id} version={shown.version} inForce={current?.version ?? 0} />
              </>
            )}
          </div>
        }
      >
        <Difference id={id} older={older} newer={newer} />
      </Section>
    </div>
  );
}

const title = (older: ConfigVersion | undefined, newer: ConfigVersion): string =>
  older
    ? t("From version {older} to {newer}", { older: older.version, newer: newer.version })
    : t("Version {n}", { n: newer.version });

interface DifferenceProps {
  id: string;
  older: ConfigVersion | undefined;
  newer: ConfigVersion | undefined;
}

function Difference({ id, older, newer }: DifferenceProps) {
  const before = useVersion(id, older?.version);
  const after = useVersion(id, newer?.version);
  const error = before.error ?? after.error;
  if (error && !after.data)
    return <ErrorNote error={error} onRetry={() => void Promise.all([before.refetch(), after.refetch()])} />;
  if (!after.data || (older && !before.data)) return <Skeleton className="h-48" />;
  return (
    <ChangesView
      before={before.data ?? {}}
      after={after.data}
      heads={[
        older ? t("Version {n}", { n: older.version }) : t("Before"),
        t("Version {n}", { n: newer?.version ?? 0 }),
      ]}
    />
  );
}

function Restore({ id, version, inForce }: { id: string; version: number; inForce: number }) {
  const client = useQueryClient();
  const restore = useMutation({
    mutationFn: ({ wanted }: { wanted: number; undo?: number }) =>
      api.post(path`/api/agents/${id}/config/restore`, { version: wanted }),
    onSuccess(_, { wanted, undo }) {
      void client.invalidateQueries({ queryKey: versionsKey(id) });
      void client.invalidateQueries({ queryKey: currentKey(id) });
      showToast(
        undo === undefined
          ? t("The version before is in force again")
          : t("Version {n} is in force again", { n: wanted }),
        undo === undefined ? undefined : { label: t("Undo"), run: () => restore.mutate({ wanted: undo }) },
      );
    },
    onError: (error) => showError(messageOf(error)),
  });
  return (
    <Button isBusy={restore.isPending} onClick={() => restore.mutate({ wanted: version, undo: inForce })}>
      <RotateCcw aria-hidden="true" /> {t("Go back to this version")}
    </Button>
  );
}
