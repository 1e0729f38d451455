// The approvals of all agents of the account.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../api/api.ts";
import { Page } from "../../parts/page/page.tsx";
import { t } from "../../viewer/language.ts";
import ApprovalLists from "./approval-lists.tsx";

export default function ApprovalsPage() {
  const { data } = useQuery({
    queryKey: ["agents"],
    queryFn: () => api.get<{ agents: { id: string; name: string }[] }>("/api/agents?limit=500"),
  });
  const names = new Map(data?.agents.map(({ id, name }) => [id, name]));
  return (
    <Page title={t("Approvals")} intro={t("What your agents want to do, and may not do without you.")}>
      <ApprovalLists
        url="/api/approvals"
        agentOf={(id) => (
          <>
            <Link href={`/agents/${id}/approvals`} className="font-medium text-sea underline">
              {names.get(id) ?? t("An agent")}
            </Link>
            {": "}
          </>
        )}
      />
    </Page>
  );
}
