// Asks the service whether a file is a receipt as it gave it out.

import { useMutation } from "@tanstack/react-query";
import { FileCheck } from "lucide-react";
import { useRef } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import type { Verdict } from "./data.ts";

export function ReceiptCheck() {
  const { id } = useAgent();
  const input = useRef<HTMLInputElement>(null);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: async (file: File) => {
      const body = { receipt: await file.text() };
      return api.post<Verdict>(path`/api/agents/${id}/erasures/verify`, body);
    },
  });
  return (
    <div className="space-y-2">
      <Button isBusy={isPending} onClick={() => input.current?.click()}>
        <FileCheck aria-hidden="true" />
        {t("Check a receipt")}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        aria-label={t("File of a receipt")}
        className="hidden"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) mutate(file);
          target.value = "";
        }}
      />
      {error && <ErrorNote error={error} />}
      <p role="status">
        {data &&
          (data.genuine
            ? t("This service made the receipt, and it is as it was.")
            : t("It is not as this service made it, or another service did."))}
      </p>
    </div>
  );
}
