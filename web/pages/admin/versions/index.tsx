// The version of this server, the runtimes of its agents, and how to upgrade.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Table } from "../../../parts/lists/table.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Figure, Page, Section } from "../../../parts/page/page.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import type { Versions } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";

export default function VersionsPage() {
  const query = useQuery({
    queryKey: ["admin", "versions"],
    queryFn: () => api.get<Versions>("/api/admin/versions"),
    refetchInterval: 60_000,
  });
  return (
    <Page title={t("Version and upgrade")}>
      <Loaded query={query} height="h-96">
        {(versions) => (
          <>
            <MissingCells cells={versions.cells} />
            <Section title={t("This server")}>
              <dl className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,10rem),1fr))] gap-4">
                <Figure label="Berth" value={versions.version} />
                <Figure label={t("Started")} value={<When at={versions.startedAt} />} />
                <Figure label={t("Machine")} value={versions.platform} hint={`Bun ${versions.bun}`} />
                <Figure
                  label={t("Database schema")}
                  value={<span className="break-all text-base">{versions.migration}</span>}
                />
              </dl>
            </Section>
            <Section
              title={t("Runtimes of agents")}
              hint={t(
                "An agent keeps its version until its owner updates it. Owners find this under “Backups and updates”.",
              )}
            >
              <Table
                label={t("Runtimes of agents")}
                rows={versions.runtimes}
                keyOf={({ version }) => version}
                columns={[
                  { key: "version", head: t("Version"), cell: ({ version }) => version },
                  {
                    key: "state",
                    head: t("State"),
                    cell: ({ available }) =>
                      available ? (
                        <Status tone="good">{t("In this server")}</Status>
                      ) : (
                        <Status tone="bad">{t("Not in this server: its agents need an update")}</Status>
                      ),
                  },
                  { key: "agents", head: t("Agents"), isNumber: true, cell: ({ agents }) => formatNumber(agents) },
                ]}
              />
            </Section>
            <Upgrade {...versions} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Upgrade({ program, version }: Versions) {
  const steps = [
    {
      title: t("Make a backup"),
      words: t("Under “Storage and backups”, or with this command."),
      code: `${program} backup berth-before-upgrade.db`,
    },
    {
      title: t("Put the new program in the place of the old one"),
      words: t("It is one file. Keep the old one: you need it to go back."),
      code: `mv ${program} ${program}-${version}\nmv ./berth-new ${program}\nchmod +x ${program}`,
    },
    {
      title: t("Look at the settings, then restart"),
      words: t("Messages that come meanwhile wait at their platforms or in the database; none is lost."),
      code: `${program} doctor\n${program} serve`,
    },
    {
      title: t("If you have to go back"),
      words: t("A newer database is not opened by an older program: restore the backup with it."),
      code: `${program}-${version} restore berth-before-upgrade.db`,
    },
  ];
  return (
    <Section title={t("How to upgrade")}>
      <ol className="flex flex-col gap-5">
        {steps.map(({ title, words, code }, index) => (
          <li
            key={title}
            className="grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-2 md:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]"
          >
            <div>
              <h3 className="font-medium">
                {index + 1}. {title}
              </h3>
              <p className="text-soft">{words}</p>
            </div>
            <CodeBlock code={code} label={title} />
          </li>
        ))}
      </ol>
    </Section>
  );
}
