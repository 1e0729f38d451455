// The model that answers for an agent.

import { ModelChoice } from "../../../parts/agents/model-choice.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import { withKey } from "../config/config-changes.ts";
import type { SetUp } from "./draft.ts";

interface Props {
  agentId: string;
  current: SetUp;
  onChange: (next: SetUp) => void;
  noteAt: (path: string) => string | undefined;
}

export function ModelSection({ agentId, current, onChange, noteAt }: Props) {
  const { choice, config } = current;
  return (
    <Section
      title={t("Model")}
      hint={t("The language model that writes the answers. Dearer ones reason better, cheaper ones are faster.")}
    >
      <ModelChoice
        agentId={agentId}
        value={{ choice, own: typeof config.model === "string" ? config.model : "" }}
        error={noteAt("model")}
        onChange={({ choice, own }) =>
          onChange({ choice, config: withKey(config, "model", choice === "custom" && own ? own : undefined) })
        }
      />
    </Section>
  );
}
