// The configuration as JSON, with the server's errors at their lines.

import { useRef, useState } from "react";
import { TextAreaField } from "../../../../parts/forms/field.tsx";
import { Status } from "../../../../parts/values/status.tsx";
import { t } from "../../../../viewer/language.ts";
import { type Config, isEqual } from "../../config/config-changes.ts";
import type { Issue } from "../save.ts";
import { lineOfPath } from "./json-lines.ts";

interface Props {
  config: Config;
  issues: readonly Issue[];
  warnings: readonly Issue[];
  /** What is typed while it is no JSON object. */
  broken: string | undefined;
  onBroken: (text: string | undefined) => void;
  onChange: (config: Config) => void;
}

const print = (config: Config) => JSON.stringify(config, null, 2);

export function JsonView({ config, issues, warnings, broken, onBroken, onChange }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState({ text: print(config), config });
  // What was typed keeps its form as long as it means the same.
  const text = broken ?? (isEqual(typed.config, config) ? typed.text : print(config));
  const change = (next: string) => {
    const parsed = parseObject(next);
    if (!parsed) {
      onBroken(next);
      return;
    }
    onBroken(undefined);
    setTyped({ text: next, config: parsed });
    onChange(parsed);
  };
  const goTo = (line: number) => {
    const start =
      text
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length + (line > 1 ? 1 : 0);
    const end = text.indexOf("\n", start);
    area.current?.focus();
    area.current?.setSelectionRange(start, end < 0 ? text.length : end);
  };
  const notes = [
    ...issues.map((issue) => ({ ...issue, tone: "bad" as const })),
    ...warnings.map((issue) => ({ ...issue, tone: "warn" as const })),
  ];
  return (
    <div className="flex flex-col gap-3">
      <TextAreaField
        ref={area}
        label="JSON"
        isLabelHidden
        spellCheck={false}
        rows={Math.min(32, Math.max(14, text.split("\n").length + 1))}
        value={text}
        error={
          broken === undefined ? undefined : t("This is no JSON object yet: {reason}", { reason: reasonOf(broken) })
        }
        onChange={({ target }) => change(target.value)}
        className="whitespace-pre font-mono text-sm leading-5"
      />
      {broken === undefined && notes.length > 0 && (
        <ul className="flex flex-col gap-1" role="alert">
          {notes.map(({ path, message, tone }) => {
            const line = lineOfPath(text, path);
            return (
              <li key={path + message} className="flex flex-wrap items-baseline gap-x-2">
                <Status tone={tone}>
                  <button type="button" className="underline" onClick={() => goTo(line)}>
                    {t("Line {line}", { line })}
                  </button>
                </Status>
                <span className="font-mono text-sm">{path}</span>
                <span>{message}</span>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

function parseObject(text: string): Config | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Config) : undefined;
  } catch {
    return undefined;
  }
}

/** The browser's words for what is wrong with the text. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text);
    return t("it begins with something else than {");
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
