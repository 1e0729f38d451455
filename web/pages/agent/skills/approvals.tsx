// What the agent may do without asking: for each kind of tool, and for single tools, kept in the agent's configuration.

import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { toolLabel } from "../../../data/tools.ts";
import { ToolName } from "../../../parts/agents/tool-name.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useConfiguration, withKey } from "../config/configuration.ts";
import { type Approval, CLASSES, type Skill } from "./words.ts";

type Policy = Readonly<Record<string, Approval>>;
/** A list of names means: ask for these. */
function policyOf({ approvals }: Record<string, unknown>): Policy {
  if (Array.isArray(approvals)) return Object.fromEntries(approvals.map((name) => [String(name), "ask" as const]));
  return typeof approvals === "object" && approvals !== null ? (approvals as Policy) : {};
}

export function Approvals({ agentId, skills }: { agentId: string; skills: readonly Skill[] }) {
  const { data, error, refetch, save } = useConfiguration(agentId);

  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const policy = policyOf(data?.config ?? {});
  const set = (name: string, approval: Approval | undefined) => {
    const { [name]: _, ...rest } = policy;
    save((config) => withKey(config, "approvals", approval === undefined ? rest : { ...rest, [name]: approval }));
  };
  return (
    <Section
      title={t("What it may do without asking")}
      hint={t(
        "“Ask” makes each use wait for your approval. Where words of strangers or web pages are in a conversation, everything but reading asks anyway.",
      )}
    >
      {data?.imported && (
        <Notice tone="warn">
          <p>
            {t(
              "This agent came from a file, so all its tools that act ask you first. Read its instructions and save its set-up; then choose here.",
            )}
          </p>
        </Notice>
      )}
      {data && !data.imported && (
        <div className="flex flex-col gap-5">
          <ul className="flex flex-col">
            {CLASSES.map(({ id, label, hint, Icon }) => (
              <li
                key={id}
                className="flex flex-wrap items-center gap-x-4 gap-y-2 border-edge border-b py-2.5 last:border-b-0"
              >
                <Icon className="size-4 text-soft" aria-hidden="true" />
                <div className="min-w-48 flex-1">
                  <p className="font-medium">{t(label)}</p>
                  <p className="text-soft text-sm">{t(hint)}</p>
                </div>
                <ApprovalChoice
                  label={t("{name}: allow, ask or forbid", { name: t(label) })}
                  value={policy[id] ?? "allow"}
                  onChange={(approval) => set(id, approval === "allow" ? undefined : approval)}
                />
              </li>
            ))}
          </ul>
          <Exceptions policy={policy} skills={skills} onSet={set} />
          <p className="text-soft text-sm">
            {rich("What waits for you is under <a>Approvals</a>, and in the chat where it was asked.", {
              a: (words, linkKey) => (
                <Link key={linkKey} href={`/agents/${agentId}/approvals`} className="text-sea underline">
                  {words}
                </Link>
              ),
            })}
          </p>
        </div>
      )}
      {!data && (
        <div className="flex flex-col gap-3">
          {CLASSES.map(({ id }) => (
            <Skeleton key={id} className="h-9" />
          ))}
        </div>
      )}
    </Section>
  );
}

interface ExceptionsProps {
  policy: Policy;
  skills: readonly Skill[];
  onSet: (name: string, approval: Approval | undefined) => void;
}

/** Single tools, which win over their kind. */
function Exceptions({ policy, skills, onSet }: ExceptionsProps) {
  const [isAdding, setAdding] = useState(false);
  const classes: readonly string[] = CLASSES.map(({ id }) => id);
  const names = Object.keys(policy).filter((name) => !classes.includes(name));
  const servers = skills.filter(({ source }) => source === "mcp").map(({ name }) => ({ name: `${name}:*` }));
  const others = [...skills.flatMap(({ tools }) => tools), ...servers].filter(
    ({ name }) => !Object.hasOwn(policy, name),
  );
  return (
    <div className="flex flex-col gap-2">
      <h3 className="font-medium">{t("Exceptions for single tools")}</h3>
      {names.length === 0 && !isAdding && (
        <p className="text-soft text-sm">{t("None. A tool follows its kind above.")}</p>
      )}
      {names.length > 0 && (
        <ul className="flex flex-col">
          {names.map((name) => (
            <li key={name} className="flex flex-wrap items-center gap-3 py-1.5">
              <span className="min-w-40 flex-1">
                <ToolName name={name} isRawShown />
              </span>
              <ApprovalChoice
                label={t("{name}: allow, ask or forbid", { name: toolLabel(name) })}
                value={policy[name] ?? "allow"}
                onChange={(approval) => onSet(name, approval)}
              />
              <IconButton
                label={t("Remove the exception for {name}", { name: toolLabel(name) })}
                onClick={() => onSet(name, undefined)}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {isAdding ? (
        <SelectField
          label={t("Tool")}
          className="max-w-72"
          value=""
          onChange={({ target }) => {
            onSet(target.value, "ask");
            setAdding(false);
          }}
        >
          <option value="">{t("Choose a tool")}</option>
          {others.map(({ name }) => (
            <option key={name} value={name}>
              {toolLabel(name)}
            </option>
          ))}
        </SelectField>
      ) : (
        others.length > 0 && (
          <button
            type="button"
            onClick={() => setAdding(true)}
            className="inline-flex items-center gap-1 self-start rounded-round py-1 font-medium text-sea hover:underline"
          >
            <Plus className="size-4" aria-hidden="true" />
            {t("Add an exception")}
          </button>
        )
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: Approval;
  onChange: (approval: Approval) => void;
}

const ApprovalChoice = ({ label, value, onChange }: ChoiceProps) => (
  <Choice
    label={label}
    value={value}
    options={[
      { value: "allow", label: t("Allow") },
      { value: "ask", label: t("Ask") },
      { value: "deny", label: t("Forbid") },
    ]}
    onChange={onChange}
  />
);
