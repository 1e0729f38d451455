// The panel "This page as code": the requests that the page has sent, as curl and as TypeScript.

import { useState, useSyncExternalStore } from "react";
import { recordedRequests, subscribeToRequests } from "../../api/request-log.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/forms/choice.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { CodeBlock } from "../../parts/text/code-block.tsx";
import { t } from "../../viewer/language.ts";
import { asCurl, asTypeScript } from "./snippets.ts";

export default function AsCodePanel({ onClose }: { onClose: () => void }) {
  const requests = useSyncExternalStore(subscribeToRequests, recordedRequests);
  const [form, setForm] = useState<"curl" | "typescript">("curl");
  const own = requests.filter(({ page }) => page === location.pathname);
  const print = form === "curl" ? asCurl : asTypeScript;
  return (
    <Dialog title={t("This page as code")} onClose={onClose} width="wide">
      <div className="flex flex-col gap-4">
        <p className="text-soft">
          {t(
            "What this page asked of the API, newest first. Make an API key under Account and put it into BERTH_KEY. What protects your account (passwords, devices, keys) no key may do.",
          )}
        </p>
        <Choice
          label={t("Language of the code")}
          value={form}
          onChange={setForm}
          options={[
            { value: "curl", label: "curl" },
            { value: "typescript", label: "TypeScript" },
          ]}
        />
        {own.length === 0 && (
          <EmptyState title={t("No request yet")}>{t("Use the page; its requests appear here.")}</EmptyState>
        )}
        {own.map((request) => {
          const name = `${request.method} ${request.url}`;
          return <CodeBlock key={name} code={print(request, location.origin)} label={name} />;
        })}
        <a href="/swagger" className="text-sea underline">
          {t("The whole API")}
        </a>
      </div>
    </Dialog>
  );
}
