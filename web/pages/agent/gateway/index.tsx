// The WebSocket of an agent: its token, a live console, and code to begin with.

import { Choice } from "../../../parts/forms/choice.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { LiveConsole } from "./live-console.tsx";
import { isSample, SAMPLES } from "./samples.ts";
import { TokenSection } from "./token-section.tsx";

export default function GatewayPage() {
  const agent = useAgent();
  const [chosen, choose] = useParameter("code");
  const address = `${location.origin.replace(/^http/, "ws")}/agent/${agent.id}`;
  const sample = isSample(chosen) ? chosen : "typescript";
  return (
    <>
      <Section
        title={t("Gateway")}
        hint={t(
          "For programs that talk to your agent all the time: one connection, over which replies arrive word by word.",
        )}
      >
        <CopyValue value={address} label={t("Copy the address")} />
      </Section>
      <TokenSection />
      <Section
        title={t("Try it")}
        hint={t("This connects with your session, and shows each message as programs see it.")}
      >
        <LiveConsole address={address} />
      </Section>
      <Section
        title={t("Code")}
        actions={
          <Choice
            label={t("Language of the code")}
            value={sample}
            options={Object.entries(SAMPLES).map(([value, { label }]) => ({
              value: value as keyof typeof SAMPLES,
              label,
            }))}
            onChange={choose}
          />
        }
      >
        <CodeBlock code={SAMPLES[sample].code(address)} label={SAMPLES[sample].label} />
      </Section>
    </>
  );
}
