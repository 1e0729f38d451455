// The first run: a model, an agent, a talk, a channel. Each step can be left out, and taken up again later.

import { ButtonLink } from "../../../parts/button.tsx";
import { ErrorPage } from "../../../parts/error-note.tsx";
import { PageSkeleton } from "../../../parts/skeleton.tsx";
import { t } from "../../../viewer/language.ts";
import { AgentStep } from "./agent-step.tsx";
import { ChannelStep } from "./channel-step.tsx";
import { Done } from "./done.tsx";
import { Frame, StepPage } from "./frame.tsx";
import { ModelStep } from "./model-step.tsx";
import { useSetup } from "./setup.ts";
import { TalkStep } from "./talk-step.tsx";

export default function WelcomePage() {
  const { setup, error, refetch, steps, step, goOn, skip } = useSetup();
  if (error && !setup) {
    return (
      <main>
        <ErrorPage error={error} onRetry={() => void refetch()} />
      </main>
    );
  }
  if (!setup) {
    return (
      <main>
        <PageSkeleton />
      </main>
    );
  }
  const { agent } = setup;
  const isModelFound = steps.some(({ id, status }) => id === "model" && status === "done");
  const ways = (id: "model" | "agent" | "talk" | "channel") => ({
    onDone: () => void goOn(id),
    onSkip: () => void skip(id),
  });
  return (
    <Frame steps={steps} step={step}>
      {step === "model" && <ModelStep {...ways("model")} />}
      {step === "agent" && <AgentStep key={agent?.id} isModelFound={isModelFound} setup={setup} {...ways("agent")} />}
      {(step === "talk" || step === "channel") && !agent && <NoAgent onSkip={() => void skip(step)} />}
      {step === "talk" && agent && <TalkStep key={agent.id} agent={agent} serving={setup.serving} {...ways("talk")} />}
      {step === "channel" && agent && <ChannelStep key={agent.id} agent={agent} {...ways("channel")} />}
      {step === "done" && <Done setup={setup} steps={steps} />}
    </Frame>
  );
}

const NoAgent = ({ onSkip }: { onSkip: () => void }) => (
  <StepPage title={t("First make an agent")} intro={t("This step needs somebody who answers.")} onSkip={onSkip}>
    <div>
      <ButtonLink href="/welcome?step=agent" look="primary">
        {t("Make an agent")}
      </ButtonLink>
    </div>
  </StepPage>
);
