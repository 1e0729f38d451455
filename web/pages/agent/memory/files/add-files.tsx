// Gives an agent files, by dropping or choosing them, or an address that it reads.

import { Upload } from "lucide-react";
import { useRef, useState } from "react";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../../api/api.ts";
import { Button } from "../../../../parts/button.tsx";
import { messageOf } from "../../../../parts/error-note.tsx";
import { SelectField, TextField } from "../../../../parts/forms/field.tsx";
import { Form } from "../../../../parts/forms/form.tsx";
import { useFileDrop } from "../../../../parts/forms/use-file-drop.ts";
import { Notice } from "../../../../parts/values/status.tsx";
import { t } from "../../../../viewer/language.ts";
import { REFRESHES, toRefresh } from "./data.ts";

const ACCEPTED =
  ".pdf,.docx,.md,.markdown,.txt,.html,.htm,.csv,.tsv,.json,text/*,application/pdf,application/vnd.openxmlformats-officedocument.wordprocessingml.document";

export function AddFiles({ agentId, onAdded }: { agentId: string; onAdded: () => void }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [waiting, setWaiting] = useState(0);
  const [refused, setRefused] = useState<readonly { name: string; reason: string }[]>([]);
  const target = path`/api/agents/${agentId}/files`;

  /** One after the other: the first refusal of the plan holds for the others too, but each says so by its name. */
  async function send(files: readonly File[]): Promise<void> {
    setRefused([]);
    setWaiting((count) => count + files.length);
    for (const file of files) {
      const form = new FormData();
      form.append("file", file, file.name);
      try {
        await api.post(target, form);
      } catch (error) {
        setRefused((list) => [...list, { name: file.name, reason: messageOf(error) }]);
      }
      setWaiting((count) => count - 1);
      onAdded();
    }
  }
  const { isOver, handlers: dropHandlers } = useFileDrop((files) => void send(files));

  return (
    <div className="flex flex-col gap-4">
      <div
        {...dropHandlers}
        className={`flex flex-wrap items-center gap-3 rounded-large border border-dashed px-4 py-5 transition-colors ${isOver ? "border-sea bg-wash" : "border-line"}`}
      >
        <Upload className="size-5 shrink-0 text-soft" aria-hidden="true" />
        <p className="min-w-0 flex-1 basis-52">
          {t("Drop files here: PDF, DOCX, Markdown, text, HTML or CSV, up to 20 MB each.")}
        </p>
        <input
          ref={chooser}
          type="file"
          hidden
          multiple
          aria-label={t("Files")}
          accept={ACCEPTED}
          onChange={(event) => {
            void send([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <Button look="primary" isBusy={waiting > 0} onClick={() => chooser.current?.click()}>
          {t("Choose files…")}
        </Button>
      </div>
      <AddAddress target={target} onAdded={onAdded} />
      {refused.length > 0 && (
        <div role="alert">
          <Notice tone="bad">
            {refused.map(({ name, reason }, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows, and names may repeat
              <p key={row} className="max-w-prose [overflow-wrap:anywhere]">
                <span className="font-medium">{visibleText(name)}:</span> {reason}
              </p>
            ))}
          </Notice>
        </div>
      )}
    </div>
  );
}

function AddAddress({ target, onAdded }: { target: string; onAdded: () => void }) {
  const [url, setUrl] = useState("");
  const [refresh, setRefresh] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function add(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await api.post(target, { url: url.trim(), refresh: toRefresh(refresh) });
      setUrl("");
      onAdded();
    } catch (refused) {
      setError(messageOf(refused));
    }
    setBusy(false);
  }

  return (
    <Form onSubmit={() => void add()} className="flex flex-wrap items-start gap-2">
      <div className="min-w-60 flex-1">
        <TextField
          label={t("Or the address of a page or file")}
          type="url"
          placeholder="https://"
          maxLength={2_000}
          value={url}
          error={error}
          onChange={(event) => setUrl(event.target.value)}
        />
      </div>
      <SelectField label={t("Read it")} value={refresh} onChange={(event) => setRefresh(event.target.value)}>
        {REFRESHES.map(({ value, label }) => (
          <option key={value} value={value}>
            {t(label)}
          </option>
        ))}
      </SelectField>
      <div className="pt-[1.6rem]">
        <Button type="submit" className="min-h-9" isBusy={isBusy} disabled={!/^https?:\/\/./.test(url.trim())}>
          {t("Add")}
        </Button>
      </div>
    </Form>
  );
}
