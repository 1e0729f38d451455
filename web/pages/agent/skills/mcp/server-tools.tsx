// The tools of an MCP server: which the agent is offered, and which run without asking. Their texts are the server's.

import { useMutation } from "@tanstack/react-query";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { Button } from "../../../../parts/button.tsx";
import { messageOf } from "../../../../parts/error-note.tsx";
import { CheckField } from "../../../../parts/forms/field.tsx";
import { showError } from "../../../../parts/toast.tsx";
import { Badge, Notice } from "../../../../parts/values/status.tsx";
import { said, t } from "../../../../viewer/language.ts";
import { classWords } from "../words.ts";
import type { ServerConfig, ServerItem, Servers, ToolItem } from "./data.ts";

interface Props {
  name: string;
  config: ServerConfig;
  item: ServerItem;
  servers: Servers;
}

export function ServerTools({ name, config, item, servers }: Props) {
  const offered = item.tools.filter((tool) => tool.offered).map((tool) => tool.name);
  const accept = useMutation({
    mutationFn: (tool: string) => servers.acceptChange(name, tool),
    onError: (refused) => showError(messageOf(refused)),
  });
  const toggle = (list: readonly string[], tool: string, isOn: boolean) =>
    isOn ? [...list, tool] : list.filter((one) => one !== tool);
  const choose = (tool: string, isOn: boolean) =>
    servers.change(name, { tools: toggle(config.tools ?? offered, tool, isOn) });
  const letRead = (tool: string, isOn: boolean) =>
    servers.change(name, { reads: toggle(config.reads ?? [], tool, isOn) });
  return (
    <>
      <ul aria-label={t("Tools of {name}", { name })} className="flex flex-col gap-4">
        {item.tools.map((tool) => (
          <li key={tool.name} className="flex flex-col gap-1.5 border-edge border-t pt-3">
            <div className="flex flex-wrap items-center gap-2">
              <code className="break-all font-medium font-mono">{visibleText(tool.name)}</code>
              <ClassBadge tool={tool} />
              {tool.destructive && <Badge tone="bad">{t("Deletes or overwrites, the server says")}</Badge>}
            </div>
            <p className="max-w-prose break-words text-soft text-sm">{visibleText(tool.description)}</p>
            {tool.changed && (
              <Notice tone="warn">
                <p>{t("The server has changed or added this tool since you looked. Read what it says.")}</p>
                <Button className="mt-2" isBusy={accept.isPending} onClick={() => accept.mutate(tool.name)}>
                  {t("I have read it")}
                </Button>
              </Notice>
            )}
            <div className="flex flex-wrap gap-x-6 gap-y-1">
              <CheckField
                label={t("Offered to the agent")}
                aria-label={t("{name}: offered to the agent", { name: tool.name })}
                checked={config.tools ? config.tools.includes(tool.name) : tool.offered}
                onChange={({ target }) => choose(tool.name, target.checked)}
              />
              {!isOfBerth(tool) && (
                <CheckField
                  label={t("It only reads: don't ask me")}
                  aria-label={t("{name} only reads: don't ask me", { name: tool.name })}
                  hint={tool.readOnly ? t("The server says so. Believe it only if you know the server.") : undefined}
                  checked={config.reads?.includes(tool.name) ?? false}
                  onChange={({ target }) => letRead(tool.name, target.checked)}
                />
              )}
            </div>
            {tool.reason !== null && tool.reason !== NOT_CHOSEN && (
              <p className="text-soft text-sm">{t("Not offered: {reason}", { reason: said(tool.reason) })}</p>
            )}
          </li>
        ))}
      </ul>
      {item.omitted.length > 0 && (
        <details className="text-sm">
          <summary className="text-soft hover:text-ink">{t("Tools that can't be used")}</summary>
          <ul className="mt-2 flex flex-col gap-1">
            {item.omitted.map(({ name: omitted, reason }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a server may list a name twice
              <li key={index} className="break-words">
                <code className="font-mono">{visibleText(omitted)}</code>: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** The owner's own choice, which the checkbox shows. */
const NOT_CHOSEN = "The configuration does not choose it.";

/** Reading resources and prompts, which Berth adds. */
const isOfBerth = ({ class: kind, readOnly, name }: ToolItem) =>
  kind === "read" && readOnly && (name === "read_resource" || name === "get_prompt");

function ClassBadge({ tool }: { tool: ToolItem }) {
  const words = classWords(tool.class);
  return words && <Badge tone={words.tone}>{t(words.label)}</Badge>;
}
