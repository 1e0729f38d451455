// The disk, the data folder and the backups of the database.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Table } from "../../../parts/lists/table.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page, Section } from "../../../parts/page/page.tsx";
import { formatBytes, formatNumber, t, tn } from "../../../viewer/language.ts";
import type { Storage } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";
import { Backups } from "./backups.tsx";

const STORAGE_KEY = ["admin", "storage"] as const;

export default function StoragePage() {
  const query = useQuery({
    queryKey: STORAGE_KEY,
    queryFn: () => api.get<Storage>("/api/admin/storage"),
    // While a backup is made, its progress is followed closely.
    refetchInterval: ({ state: { data } }) =>
      data?.backups.some(({ state }) => state === "running" || state === "waiting") ? 1_000 : 15_000,
  });
  return (
    <Page title={t("Storage and backups")}>
      <Loaded query={query} height="h-96">
        {(storage) => (
          <>
            <MissingCells cells={storage.cells} />
            <Disk {...storage} />
            <Backups backups={storage.backups} isFile={storage.database.kind === "file"} />
            <Folder {...storage} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Disk({ disk, database, entries }: Storage) {
  const own = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const used = disk.totalBytes - disk.freeBytes;
  const share = (bytes: number) => `${(100 * bytes) / Math.max(1, disk.totalBytes)}%`;
  const isLow = disk.freeBytes / Math.max(1, disk.totalBytes) < 0.1;
  return (
    <Section title={t("Disk")}>
      <div
        role="img"
        aria-label={t("{used} of {all} are used, {own} of it by Berth", {
          used: formatBytes(used),
          all: formatBytes(disk.totalBytes),
          own: formatBytes(own),
        })}
        className="flex h-3 overflow-hidden rounded-full border border-line bg-well"
      >
        <div className="bg-fill" style={{ width: share(own) }} />
        <div className={isLow ? "bg-bad" : "bg-line"} style={{ width: share(Math.max(0, used - own)) }} />
      </div>
      <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2">
        <Key mark="bg-fill" label={t("Berth")} value={formatBytes(own)} />
        <Key
          mark={isLow ? "bg-bad" : "bg-line"}
          label={t("Other files")}
          value={formatBytes(Math.max(0, used - own))}
        />
        <Key mark="border border-line bg-well" label={t("Free space")} value={formatBytes(disk.freeBytes)} />
        {database.bytes !== null && (
          <Key mark="" label={t("The database alone")} value={formatBytes(database.bytes + (database.logBytes ?? 0))} />
        )}
      </dl>
    </Section>
  );
}

const Key = ({ mark, label, value }: { mark: string; label: string; value: string }) => (
  <div className="flex items-center gap-2">
    {mark && <span aria-hidden="true" className={`size-3 rounded-full ${mark}`} />}
    <dt className="text-soft">{label}</dt>
    <dd className="font-medium">{value}</dd>
  </div>
);

const Folder = ({ dataDir, entries, complete }: Storage) => (
  <Section
    title={t("Data folder")}
    hint={<code className="font-mono">{dataDir}</code>}
    {...(!complete && { actions: <span className="text-soft text-sm">{t("Only the first files are counted.")}</span> })}
  >
    <Table
      label={t("Data folder")}
      rows={entries}
      keyOf={({ name }) => name}
      columns={[
        { key: "name", head: t("Name"), cell: ({ name }) => <code className="font-mono text-sm">{name}</code> },
        {
          key: "files",
          head: t("Files"),
          isNumber: true,
          cell: ({ files, name }) => (name.endsWith("/") ? formatNumber(files) : tn("{n} file", "{n} files", files)),
        },
        { key: "bytes", head: t("Size"), isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
      ]}
    />
  </Section>
);
