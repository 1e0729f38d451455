// What was changed of an account, and by whom, newest first.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import type { AuditPage } from "../api-types.ts";
import { AuditTable } from "../audit/audit-table.tsx";

export function AccountHistory({ userId }: { userId: string }) {
  const query = useQuery({
    queryKey: ["admin", "audit", "user", userId],
    queryFn: () => api.get<AuditPage>("/api/admin/audit", { user: userId, limit: 10 }),
  });
  return (
    <Section
      title={t("Changes of this account")}
      actions={
        <Link href={`/admin/audit?user=${userId}`} className="text-sea underline">
          {t("All")}
        </Link>
      }
    >
      <Loaded query={query} height="h-24">
        {({ entries }) =>
          entries.length === 0 ? (
            <p className="text-soft">{t("Nothing has been changed here.")}</p>
          ) : (
            <AuditTable entries={entries} />
          )
        }
      </Loaded>
    </Section>
  );
}
