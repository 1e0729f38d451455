// What a search of the files finds: passages with file, page and heading, as the agent gets them.

import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { useLive } from "../../../../api/events.ts";
import { ErrorNote } from "../../../../parts/error-note.tsx";
import { EmptyState } from "../../../../parts/page/empty-state.tsx";
import { t } from "../../../../viewer/language.ts";
import { passagesKey, usePassages } from "./data.ts";

export function Passages({ agentId, query }: { agentId: string; query: string }) {
  const { data, error, refetch } = usePassages(agentId, query);
  useLive(passagesKey(agentId), ["file.state"], ({ data }) => data.agentId === agentId);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  if (data.results.length === 0) {
    return (
      <div className="mt-4">
        <EmptyState title={t("Nothing fits")}>
          {t("Try other words. Files that are still being read are found when they are ready.")}
        </EmptyState>
      </div>
    );
  }
  return (
    <ol aria-label={t("Passages")} className="-mx-4 mt-4 -mb-4 overflow-hidden rounded-b-large">
      {data.results.map((passage, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: passages have no id, and the list is replaced as a whole
        <li key={row} className="flex flex-col gap-1 border-edge border-t px-4 py-3">
          <p className="flex flex-wrap gap-x-2 text-sm [overflow-wrap:anywhere]">
            <span className="font-medium">{visibleText(passage.name)}</span>
            {passage.page !== null && <span className="text-soft">{t("page {page}", { page: passage.page })}</span>}
            {passage.heading && <span className="text-soft">{visibleText(passage.heading)}</span>}
          </p>
          <p className="max-w-prose whitespace-pre-line [overflow-wrap:anywhere]">{visibleText(passage.text)}</p>
        </li>
      ))}
    </ol>
  );
}
