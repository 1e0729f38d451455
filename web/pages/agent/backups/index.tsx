// Backups of an agent, its file to take elsewhere, and its runtime.

import { useAgent } from "../agent.tsx";
import { Backups } from "./backups.tsx";
import { ExportSection } from "./export-section.tsx";
import { RuntimeSection } from "./runtime-section.tsx";

export default function BackupsPage() {
  const { id } = useAgent();
  return (
    <>
      <Backups agentId={id} />
      <RuntimeSection agentId={id} />
      <ExportSection agentId={id} />
    </>
  );
}
