// The agent as one file without secrets, to be imported here or on another Berth.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Upload } from "lucide-react";
import { useRef } from "react";
import { call, path } from "../../../api/api.ts";
import { AGENT_FILES, toAgentFile } from "../../../data/agent-files.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import { type Imported, ImportedNote } from "./imported-note.tsx";

const LINK =
  "inline-flex min-h-8 items-center gap-1.5 rounded-round border border-line bg-card px-3 py-1 font-medium hover:bg-hover [&_svg]:size-4";

export function ExportSection({ agentId }: { agentId: string }) {
  const exported = path`/api/agents/${agentId}/export`;
  return (
    <Section
      title={t("Take it elsewhere")}
      hint={t(
        "One file with set-up, skills, memory and conversations. No keys, no channels: these are connected anew.",
      )}
    >
      <div className="flex flex-wrap gap-2">
        <a href={exported} download className={LINK}>
          <Download aria-hidden="true" />
          {t("Export with conversations")}
        </a>
        <a href={`${exported}?history=0`} download className={LINK}>
          <Download aria-hidden="true" />
          {t("Export without conversations")}
        </a>
        <Import />
      </div>
    </Section>
  );
}

function Import() {
  const input = useRef<HTMLInputElement>(null);
  const client = useQueryClient();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: (file: File) => call<Imported>("POST", "/api/agents/import", { body: toAgentFile(file) }),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (
    <>
      <Button isBusy={isPending} onClick={() => input.current?.click()}>
        <Upload aria-hidden="true" />
        {t("Import a file as a new agent")}
      </Button>
      <input
        ref={input}
        type="file"
        accept={AGENT_FILES}
        aria-label={t("File of an exported agent")}
        className="hidden"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) mutate(file);
          target.value = "";
        }}
      />
      {error && (
        <div className="w-full">
          <ErrorNote error={error} />
        </div>
      )}
      {data && <ImportedNote {...data} />}
    </>
  );
}
