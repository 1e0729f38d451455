// The balance and the address of the wallet, with its QR code, and sending.

import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { api } from "../../app/api.ts";
import { formatNumber, formatUsd, t } from "../../app/language.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Figure, Section } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Badge } from "../../parts/status.tsx";
import { BALANCE_KEY, type Balances, networkOf, type OwnWallet } from "./wallet.ts";

const SendDialog = lazy(() => import("./send-dialog.tsx"));
const QrCode = lazy(async () => ({ default: (await import("../../parts/qr-code.tsx")).QrCode }));

export function Balance({ wallet: { address, network } }: { wallet: OwnWallet }) {
  const [isSending, setSending] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: BALANCE_KEY,
    queryFn: () => api.get<Balances>("/api/wallet"),
    refetchInterval: 30_000,
    // The server has waited for the chain as long as it makes sense.
    retry: false,
  });
  const label = networkOf(network);
  return (
    <Section
      title={t("Balance")}
      actions={
        <>
          {label && <Badge tone={network === "testnet_chain" ? "busy" : "warn"}>{t(label)}</Badge>}
          <Button look="primary" onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {t("Send")}
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap gap-x-10 gap-y-5">
        <Suspense fallback={<Skeleton className="size-36" />}>
          <QrCode value={address} label={t("QR code of the wallet's address")} size={144} />
        </Suspense>
        <div className="flex min-w-0 flex-1 basis-72 flex-col justify-center gap-4">
          {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {!error && !data && <Skeleton className="h-14 w-64" />}
          {data && <Figures {...data} />}
          <div>
            <p className="text-soft text-sm">{t("Address, to send money to")}</p>
            <p className="flex items-center gap-1">
              <span className="break-all font-mono text-sm">{address}</span>
              <CopyButton value={address} label={t("Copy the address")} />
            </p>
          </div>
        </div>
      </div>
      {isSending && (
        <Suspense>
          <SendDialog onClose={() => setSending(false)} />
        </Suspense>
      )}
    </Section>
  );
}

const Figures = ({ stablecoin, balance = "0" }: Balances) => (
  <dl className="flex flex-wrap gap-x-10 gap-y-3">
    {stablecoin !== undefined && <Figure label={t("Digital dollars (USDC)")} value={formatUsd(Number(stablecoin))} />}
    <Figure
      label={t("Ether")}
      value={formatNumber(Number(balance), { maximumFractionDigits: 6 })}
      hint={t("pays the fees of the chain")}
    />
  </dl>
);
