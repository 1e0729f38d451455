// What an agent did, line by line, as it is written.

import { Download, Pause, Play } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { lazyDialog } from "../../../parts/lazy.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { downloadText } from "../../../parts/text/download.ts";
import { showToast } from "../../../parts/toast.tsx";
import { copyText } from "../../../parts/values/copy-button.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t, tn } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { LogBox } from "./log-box.tsx";
import { LEVELS, lineAsText } from "./log-line.tsx";
import { useLog } from "./use-log.ts";

const TurnPanel = lazyDialog(() => import("../chat/messages/turn-panel.tsx"));

export default function LogsPage() {
  const { id, name } = useAgent();
  const [level, setLevel] = useParameter("level");
  const [query, setQuery] = useParameter("query");
  const [turn, setTurn] = useParameter("turn");
  const [isPaused, setPaused] = useState(false);
  const log = useLog(id, level in LEVELS ? level : "");
  const { lines, loadOlder } = log;
  const shown = useMemo(() => {
    const wanted = query.toLowerCase();
    return wanted === ""
      ? lines
      : lines.filter(({ message, source }) => `${source} ${message}`.toLowerCase().includes(wanted));
  }, [lines, query]);
  const copy = async () => {
    if (await copyText(shown.toReversed().map(lineAsText).join("\n"))) {
      showToast(tn("{n} line copied", "{n} lines copied", shown.length));
    }
  };
  const download = () =>
    downloadText(`${name}-log.txt`.replace(/[^\p{L}\p{N}._-]+/gu, "-"), shown.toReversed().map(lineAsText).join("\n"));
  return (
    <section aria-label={t("Log")} className="mb-5 overflow-hidden rounded-large border border-edge bg-card">
      <header className="flex flex-wrap items-center gap-2 border-edge border-b px-3 py-2.5">
        <div className="min-w-56 flex-1">
          <SearchField label={t("Search in these lines")} value={query} onSearch={setQuery} />
        </div>
        <div className="w-36">
          <SelectField label={t("Level")} isLabelHidden value={level} onChange={({ target }) => setLevel(target.value)}>
            <option value="">{t("All levels")}</option>
            {Object.entries(LEVELS).map(([value, { label }]) => (
              <option key={value} value={value}>
                {t(label)}
              </option>
            ))}
          </SelectField>
        </div>
        <Button onClick={() => setPaused(!isPaused)} aria-pressed={isPaused}>
          {isPaused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
          {isPaused ? t("Go on") : t("Pause")}
        </Button>
        <Button onClick={() => void copy()} disabled={shown.length === 0}>
          {t("Copy lines")}
        </Button>
        <Button onClick={download} disabled={shown.length === 0}>
          <Download aria-hidden="true" />
          {t("Save as a file")}
        </Button>
      </header>
      <div className="flex flex-wrap gap-x-4 border-edge border-b px-3 py-1.5 text-soft text-sm">
        <State isPaused={isPaused} isLive={log.isLive} />
        {log.total !== undefined && (
          <span>
            {query === ""
              ? tn("{n} line is kept", "{n} lines are kept", log.total)
              : t("{found} of {read} lines that were read", { found: shown.length, read: lines.length })}
          </span>
        )}
      </div>
      {log.error && (
        <div className="p-3">
          <ErrorNote error={log.error} onRetry={log.retry} />
        </div>
      )}
      {log.isPending && <Skeleton className="m-3 h-80" />}
      {shown.length > 0 && (
        <LogBox
          agentId={id}
          lines={shown}
          isPaused={isPaused}
          onEnd={() => query === "" && loadOlder()}
          onOpenTurn={setTurn}
        />
      )}
      {turn !== "" && <TurnPanel agentId={id} turnId={turn} onClose={() => setTurn("")} />}
      {!log.isPending && !log.error && shown.length === 0 && <Nothing isFiltered={query !== "" || level !== ""} />}
      {query !== "" && log.hasOlder && (
        <footer className="border-edge border-t px-3 py-2">
          <Button isBusy={log.isLoadingOlder} onClick={loadOlder}>
            {t("Search older lines")}
          </Button>
        </footer>
      )}
    </section>
  );
}

function State({ isPaused, isLive }: { isPaused: boolean; isLive: boolean }) {
  if (isPaused) return <Status tone="idle">{t("Paused: new lines wait")}</Status>;
  return isLive ? <Status tone="good">{t("Live")}</Status> : <Status tone="busy">{t("Connecting")}</Status>;
}

const Nothing = ({ isFiltered }: { isFiltered: boolean }) => (
  <div className="p-4">
    {isFiltered ? (
      <EmptyState title={t("No such line")}>{t("Try fewer letters, all levels, or older lines.")}</EmptyState>
    ) : (
      <EmptyState title={t("Nothing has happened yet")}>
        {t(
          "Starts and stops, connections, approvals, schedules, changes and everything that failed appear here as they happen. They are kept for 14 days.",
        )}
      </EmptyState>
    )}
  </div>
);
