// The files that an agent searches: add, watch their reading, try a search, delete.

import { useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../../api/api.ts";
import { useLive } from "../../../../api/events.ts";
import { Meter } from "../../../../parts/charts/meter.tsx";
import { ErrorNote, messageOf } from "../../../../parts/error-note.tsx";
import { SearchField } from "../../../../parts/forms/search-field.tsx";
import { MoreButton } from "../../../../parts/lists/more-button.tsx";
import { EmptyState } from "../../../../parts/page/empty-state.tsx";
import { Section } from "../../../../parts/page/page.tsx";
import { Skeleton } from "../../../../parts/skeleton.tsx";
import { showError, withUndo } from "../../../../parts/toast.tsx";
import { useParameter } from "../../../../viewer/address.ts";
import { formatBytes, formatNumber, t, text } from "../../../../viewer/language.ts";
import { useAgent } from "../../agent.tsx";
import { SkillIsOff } from "../skill-is-off.tsx";
import { AddFiles } from "./add-files.tsx";
import { type FilePage, filesKey, type KnownFile, useFiles, useHiddenFile } from "./data.ts";
import { FileRow } from "./file-row.tsx";
import { Passages } from "./passages.tsx";

export function Files() {
  const { id: agentId, name } = useAgent();
  const [query, setQuery] = useParameter("q");
  const client = useQueryClient();
  const files = useFiles(agentId);
  const hide = useHiddenFile(agentId);
  useLive(filesKey(agentId), ["file.state"], ({ data }) => data.agentId === agentId);
  const items = files.data?.pages.flatMap((page) => page.files);
  const [first] = files.data?.pages ?? [];
  const refresh = () => void client.invalidateQueries({ queryKey: filesKey(agentId) });
  const addressOf = (file: KnownFile) => path`/api/agents/${agentId}/files/${file.id}`;

  async function change(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      showError(messageOf(error));
    }
    refresh();
  }
  const remove = (file: KnownFile) =>
    withUndo(
      t("Deleted"),
      () => hide(file.id),
      async () => {
        await api.delete(addressOf(file));
        refresh();
      },
    );

  return (
    <Section
      title={t("Files")}
      hint={t(
        "{name} searches them when a question fits, and names file and page. Everybody who may talk to it can be told what is in them.",
        { name },
      )}
    >
      <div className="flex flex-col gap-4">
        <SkillIsOff
          agentId={agentId}
          skill="files"
          words={text("The skill “Files” is switched off, so they are not searched. <a>Switch it on under Skills.</a>")}
        />
        <AddFiles agentId={agentId} onAdded={refresh} />
        {files.error && !items && <ErrorNote error={files.error} onRetry={() => void files.refetch()} />}
        {!items && !files.error && <FilesSkeleton />}
        {first && first.used.files > 0 && <Limits page={first} />}
        {items?.length === 0 && (
          <EmptyState title={t("No files yet")}>
            {t(
              "Give {name} what people ask about: a handbook, a price list, your pages. You can also send a file in a chat and say: “Keep this.”",
              { name },
            )}
          </EmptyState>
        )}
        {items && items.length > 0 && (
          <SearchField
            label={t("Try a question: what would {name} find?", { name })}
            value={query}
            onSearch={setQuery}
          />
        )}
      </div>
      {query.trim() !== "" && <Passages agentId={agentId} query={query} />}
      {items && items.length > 0 && query.trim() === "" && (
        <div className="-mx-4 mt-4 -mb-4 overflow-hidden rounded-b-large">
          {items.map((file) => (
            <FileRow
              key={file.id}
              file={file}
              onReadAgain={() => void change(() => api.post(`${addressOf(file)}/read`))}
              onRefresh={(next) => void change(() => api.patch(addressOf(file), { refresh: next }))}
              onDelete={() => remove(file)}
            />
          ))}
          {files.hasNextPage && (
            <div className="px-4 pb-4">
              <MoreButton query={files} />
            </div>
          )}
        </div>
      )}
    </Section>
  );
}

function Limits({ page: { used, limits } }: { page: FilePage }) {
  return (
    <div className="grid gap-x-6 gap-y-3 sm:grid-cols-3">
      <Meter
        label={t("Files")}
        value={used.files}
        limit={limits.files}
        words={t("{used} of {limit}", { used: formatNumber(used.files), limit: formatNumber(limits.files) })}
      />
      <Meter
        label={t("Size")}
        value={used.bytes}
        limit={limits.bytes}
        words={t("{used} of {limit}", { used: formatBytes(used.bytes), limit: formatBytes(limits.bytes) })}
      />
      <Meter
        label={t("Passages")}
        value={used.chunks}
        limit={limits.chunks}
        words={t("{used} of {limit}", { used: formatNumber(used.chunks), limit: formatNumber(limits.chunks) })}
      />
    </div>
  );
}

const FilesSkeleton = () => (
  <div role="status" className="flex flex-col gap-5">
    <span className="sr-only">{t("Loading…")}</span>
    {[0, 1, 2].map((row) => (
      <div key={row} className="flex flex-col gap-2">
        <Skeleton className="h-4 w-1/2" />
        <Skeleton className="h-3 w-1/3" />
      </div>
    ))}
  </div>
);
