// An agent from a file: it is read at once, its report is shown, and only then is the agent made.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileUp, Upload } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ReportRow } from "../../../plugins/lifecycle/takeover/report.ts";
import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import { call } from "../../api/api.ts";
import { ApiError } from "../../api/errors.ts";
import { randomKey } from "../../api/random-key.ts";
import { AGENT_FILES, toAgentFile } from "../../data/agent-files.ts";
import { OVERVIEW_KEY } from "../../data/agents.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useFileDrop } from "../../parts/forms/use-file-drop.ts";
import { Notice } from "../../parts/values/status.tsx";
import { type Text, t, text } from "../../viewer/language.ts";
import { viewerZone } from "../../viewer/time-zone.ts";
import { Report } from "./report.tsx";

interface Preview {
  name: string;
  format: string;
  report: ReportRow[];
}
interface Imported extends Omit<Preview, "name"> {
  agent: { id: string; name: string };
}

const FORMATS: Readonly<Record<string, Text>> = {
  berth: text("An exported agent: {name}"),
  openclaw: text("An OpenClaw workspace: {name}"),
  elizaos: text("An elizaOS character: {name}"),
  "character-card": text("A character card: {name}"),
};

export type FileImport = ReturnType<typeof useFileImport>;

/** The state of an import: the chosen file with its report, and the agent that is made of it. */
export function useFileImport(onMade: (agentId: string) => void) {
  const client = useQueryClient();
  const preview = useMutation({
    mutationFn: (file: File) => call<Preview>("POST", "/api/agents/import/preview", { body: toAgentFile(file) }),
  });
  const file = preview.variables;
  const create = useMutation({
    mutationFn: (isAgain: boolean) =>
      call<Imported>("POST", "/api/agents/import", {
        body: toAgentFile(file ?? new File([], "")),
        query: { again: isAgain ? 1 : undefined, timezone: viewerZone },
        idempotencyKey: randomKey(),
      }),
    onSuccess({ agent, report }) {
      void client.invalidateQueries({ queryKey: OVERVIEW_KEY });
      // Skills are looked at when the agent is made: what could not be installed is shown before its page opens.
      if (!report.some(isRefusedSkill)) onMade(agent.id);
    },
  });
  const choose = (next: File) => {
    create.reset();
    preview.mutate(next);
  };
  return {
    file,
    choose,
    preview,
    create,
    wasImported: create.error instanceof ApiError && create.error.code === "ALREADY_IMPORTED",
  };
}

const isRefusedSkill = ({ code }: ReportRow) => code === "SKILL_EXISTS" || code === "SKILL_REFUSED";

export function FromFile({ state: { file, choose, preview, create } }: { state: FileImport }) {
  const report = useRef<HTMLDivElement>(null);
  const { data } = preview;
  // The choice of templates above it is longer than a phone.
  useEffect(() => {
    if (data) report.current?.scrollIntoView({ block: "start" });
  }, [data]);
  const made = create.data;
  if (made) return <Made made={made} />;
  return (
    <>
      <Chooser file={file} isBusy={preview.isPending} onFile={choose} />
      {preview.error && <ErrorNote error={preview.error} />}
      {data && (
        <div ref={report} className="flex scroll-mt-4 flex-col gap-3" role="status">
          <p className="font-medium">
            {t(FORMATS[data.format] ?? text("A file: {name}"), { name: visibleText(data.name) })}
          </p>
          <p className="max-w-prose text-soft">
            {t(
              "What could act arrives switched off. Read its instructions before you trust them: they are somebody else's.",
            )}
          </p>
          <Report rows={data.report} />
        </div>
      )}
    </>
  );
}

interface ChooserProps {
  file: File | undefined;
  isBusy: boolean;
  onFile: (file: File) => void;
}

function Chooser({ file, isBusy, onFile }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  const take = ([first]: readonly File[]) => first && onFile(first);
  const { isOver, handlers } = useFileDrop(take);
  return (
    <div
      {...handlers}
      className={`flex flex-wrap items-center gap-3 rounded-large border border-dashed px-4 py-5 transition-colors ${isOver ? "border-sea bg-wash" : "border-line"}`}
    >
      {file ? (
        <FileUp className="size-5 shrink-0 text-sea" aria-hidden="true" />
      ) : (
        <Upload className="size-5 shrink-0 text-soft" aria-hidden="true" />
      )}
      <p className="min-w-0 flex-1 basis-52 [overflow-wrap:anywhere]">
        {file
          ? visibleText(file.name)
          : t(
              "Drop a character card (PNG or JSON), an elizaOS character, a zip of an OpenClaw workspace, or an exported agent.",
            )}
      </p>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t("File of an agent")}
        accept={AGENT_FILES}
        onChange={({ target }) => {
          take([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      <Button isBusy={isBusy} onClick={() => input.current?.click()}>
        {file ? t("Another file…") : t("Choose a file…")}
      </Button>
    </div>
  );
}

const Made = ({ made: { agent, report } }: { made: Imported }) => (
  <div className="flex flex-col gap-4" role="status">
    <Notice tone="good">
      <p className="font-semibold">{t("{name} is made", { name: visibleText(agent.name) })}</p>
    </Notice>
    <Report rows={report.filter(isRefusedSkill)} />
  </div>
);
