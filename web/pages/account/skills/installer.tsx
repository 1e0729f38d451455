// Installs a skill from a file that is dropped or chosen, or from an address.

import { useMutation } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { useRef, useState } from "react";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { api } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { useFileDrop } from "../../../parts/forms/use-file-drop.ts";
import { showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { problemsIn, type Skill } from "./data.ts";
import { ProblemList } from "./problem-list.tsx";

type Source = { file: File } | { url: string };

export function Installer({ onInstalled }: { onInstalled: (id: string) => void }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [url, setUrl] = useState("");
  const install = useMutation({
    mutationFn: (source: Source) => api.post<Skill>("/api/skills", toBody(source)),
    onSuccess({ id, name, version }) {
      setUrl("");
      showToast(t("{name} is installed, as version {version}", { name: visibleText(name), version }));
      onInstalled(id);
    },
  });
  const take = ([file]: readonly File[]) => file && install.mutate({ file });
  const fetchFrom = () => {
    install.mutate({ url: url.trim() });
  };
  const { isOver, handlers: dropHandlers } = useFileDrop(take);
  return (
    <div className="flex flex-col gap-4">
      <div
        {...dropHandlers}
        className={`flex flex-wrap items-center gap-3 rounded-large border border-dashed px-4 py-5 transition-colors ${isOver ? "border-sea bg-wash" : "border-line"}`}
      >
        <Upload className="size-5 shrink-0 text-soft" aria-hidden="true" />
        <p className="min-w-0 flex-1 basis-52">{t("Drop a zip or a SKILL.md here, up to 5 MB.")}</p>
        <input
          ref={chooser}
          type="file"
          hidden
          aria-label={t("Zip or SKILL.md")}
          accept=".zip,.skill,.md,application/zip,text/markdown"
          onChange={(event) => {
            take([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <Button
          look="primary"
          isBusy={install.isPending && "file" in install.variables}
          onClick={() => chooser.current?.click()}
        >
          {t("Choose a file…")}
        </Button>
      </div>
      <Form onSubmit={fetchFrom} className="flex flex-wrap items-end gap-2">
        <div className="min-w-60 flex-1">
          <TextField
            label={t("Or its address")}
            type="url"
            placeholder="https://"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </div>
        <Button
          type="submit"
          className="h-9"
          isBusy={install.isPending && "url" in install.variables}
          disabled={!/^https?:\/\/./.test(url.trim())}
        >
          {t("Install")}
        </Button>
      </Form>
      {install.error && <Refusal error={install.error} />}
      <p className="max-w-prose text-soft text-sm">
        {t(
          "A skill is instructions by somebody else: read it before you trust it. Its scripts are not run; the agent can only read them.",
        )}
      </p>
    </div>
  );
}

function toBody(source: Source): FormData | { url: string } {
  if ("url" in source) return source;
  const form = new FormData();
  form.append("file", source.file, source.file.name);
  return form;
}

function Refusal({ error }: { error: Error }) {
  const problems = error instanceof ApiError && error.code === "INVALID_SKILL" ? problemsIn(error) : [];
  if (problems.length === 0) return <ErrorNote error={error} />;
  return (
    <div role="alert">
      <Notice tone="bad">
        <p className="font-medium">{t("This can't be used as a skill")}</p>
        <ProblemList problems={problems} />
      </Notice>
    </div>
  );
}
