// The agent's part of the account's wallet. It is made of the wallet's own parts, which are loaded with it.

import { lazy } from "react";
import { loadTexts } from "../../../app/language.ts";
import { useAgent } from "../agent.tsx";

const AgentWallet = lazy(
  async () => (await Promise.all([import("../../wallet/agent-wallet.tsx"), loadTexts("wallet")]))[0],
);

export default function AgentWalletPage() {
  const { id, name } = useAgent();
  return <AgentWallet agentId={id} name={name} />;
}
