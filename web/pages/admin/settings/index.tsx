// The settings in force: what is wrong first, then each setting with its source. They are changed where Berth is started.

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { api } from "../../../api/api.ts";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page } from "../../../parts/page/page.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { said, t, text } from "../../../viewer/language.ts";
import type { Setting, Settings } from "../api-types.ts";

const SHOWN = ["set", "all"] as const;
const SOURCES = {
  environment: text("Environment"),
  ".env file": text("File .env"),
  default: text("Default"),
  "not set": text("Not set"),
} as const;

export default function SettingsPage() {
  const [sought, setSought] = useParameter("query");
  const [shownText, setShown] = useParameter("show");
  const shown = SHOWN.find((one) => one === shownText) ?? "set";
  const query = useQuery({
    queryKey: ["admin", "settings"],
    queryFn: () => api.get<Settings>("/api/admin/settings"),
    refetchInterval: 30_000,
  });
  return (
    <Page
      title={t("Settings in force")}
      intro={t(
        "They come from the environment and the file .env where Berth is started. Change them there, then restart.",
      )}
    >
      <Loaded query={query} height="h-96">
        {({ settings, findings }) => {
          const wanted = sought.toLowerCase();
          const rows = settings.filter(
            ({ name, description, source }) =>
              (shown === "all" || (source !== "default" && source !== "not set")) &&
              `${name} ${said(description)}`.toLowerCase().includes(wanted),
          );
          return (
            <>
              <Findings findings={findings} />
              <div className="mb-4 flex flex-wrap items-center gap-3">
                <div className="min-w-0 flex-[1_1_16rem]">
                  <SearchField label={t("Name or meaning")} value={sought} onSearch={setSought} />
                </div>
                <Choice
                  label={t("Which settings")}
                  value={shown}
                  options={[
                    { value: "set", label: t("Set by you") },
                    { value: "all", label: t("All") },
                  ]}
                  onChange={(value) => setShown(value === "set" ? "" : value)}
                />
              </div>
              {rows.length === 0 ? (
                <EmptyState title={t("No setting here")}>
                  {t("All settings have their defaults. Choose “All” to see what can be set.")}
                </EmptyState>
              ) : (
                <ul className="divide-y divide-edge rounded-large border border-edge bg-card">
                  {rows.map((setting) => (
                    <SettingRow key={setting.name} {...setting} />
                  ))}
                </ul>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Findings({ findings }: Pick<Settings, "findings">) {
  if (findings.length === 0) return null;
  return (
    <ul aria-label={t("What is wrong")} className="mb-5 flex flex-col gap-2">
      {findings.map(({ name, severity, message }) => (
        <li
          key={name + message}
          className={`flex items-start gap-2 rounded-large px-4 py-2.5 ${severity === "error" ? "bg-bad-wash" : "bg-warn-wash"}`}
        >
          <TriangleAlert
            aria-hidden="true"
            className={`mt-0.5 size-4 shrink-0 ${severity === "error" ? "text-bad" : "text-warn"}`}
          />
          <p>{said(message)}</p>
        </li>
      ))}
    </ul>
  );
}

/** Descriptions are sentences in Markdown, of which only code is used. */
const withCode = (sentence: string) =>
  sentence.split("`").map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change their order
      <code key={index} className="font-mono">
        {part}
      </code>
    ) : (
      part
    ),
  );

const SettingRow = ({ name, value, source, secret, description }: Setting) => (
  <li className="grid gap-x-6 gap-y-0.5 px-4 py-2.5 md:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
    <div className="min-w-0">
      <h2 className="font-medium font-mono text-sm">{name}</h2>
      <p className="text-soft text-sm">{withCode(said(description))}</p>
    </div>
    <div className="min-w-0 text-sm md:text-right">
      <p className="break-all font-mono">{value ?? "–"}</p>
      <p className="flex flex-wrap gap-2 md:justify-end">
        <Badge tone={source === "environment" || source === ".env file" ? "busy" : "idle"}>{t(SOURCES[source])}</Badge>
        {secret && <Badge>{t("Secret")}</Badge>}
      </p>
    </div>
  </li>
);
