// The agent's part of the account's wallet. It is made of the wallet's own parts, which are loaded with it.

import { lazyPart } from "../../../parts/lazy.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { loadTexts } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";

const AgentWallet = lazyPart(
  async () => (await Promise.all([import("../../wallet/agent-wallet.tsx"), loadTexts("wallet")]))[0],
  () => <Skeleton className="h-44" />,
);

export default function AgentWalletPage() {
  const { id, name } = useAgent();
  return <AgentWallet agentId={id} name={name} />;
}
