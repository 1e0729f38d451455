// Proofs of who stands behind an agent.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { useBrowserWallets } from "../../../data/browser-wallets.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { DeviceProof } from "./device-proof.tsx";
import { RecordSection, recordKey, type VerificationRecord } from "./record.tsx";
import { WalletProof } from "./wallet-proof.tsx";
import { WAY_IDS, WAYS } from "./ways.ts";

export default function VerificationPage() {
  const { id } = useAgent();
  const hasWallet = useBrowserWallets().length > 0;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: recordKey(id),
    queryFn: () => api.get<VerificationRecord>(path`/api/agents/${id}/verification`),
  });
  useLive(recordKey(id), ["agent.verified"], ({ data: about }) => about.agentId === id);
  return (
    <>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="mb-5 h-28" />}
      {data && <RecordSection agentId={id} record={data} />}
      {!hasWallet && (
        <p className="mb-5 text-soft text-sm">
          {t(
            "This browser has no wallet. For the ways by wallet, add one as an extension and load this page again, or sign with a wallet elsewhere.",
          )}
        </p>
      )}
      <div className="grid grid-cols-1 gap-x-5 lg:grid-cols-2">
        {WAY_IDS.map((way) => (
          <Section key={way} title={t(WAYS[way].title)}>
            <div className="flex flex-col items-start gap-3">
              <p className="max-w-prose">{t(WAYS[way].explanation)}</p>
              <p className="max-w-prose text-soft text-sm">
                {t("It proves:")} {t(WAYS[way].proves)}
              </p>
              {way === "webauthn" ? <DeviceProof agentId={id} /> : <WalletProof agentId={id} way={way} />}
            </div>
          </Section>
        ))}
      </div>
    </>
  );
}
