// What an agent is and how it does.

import { t } from "../../../app/language.ts";
import { Section } from "../../../parts/page.tsx";
import { useAgent } from "../agent.tsx";

export default function OverviewPage() {
  const { name, status } = useAgent();
  return (
    <Section title={t("Overview")}>
      {name}: {status}
    </Section>
  );
}
