// The wallet of the account: what is in it, what agents may spend, and what they did.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Wallet } from "lucide-react";
import { api } from "../../api/api.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Page } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { t } from "../../viewer/language.ts";
import { Balance } from "./balance.tsx";
import { OtherWallets } from "./other-wallets.tsx";
import { PolicySection } from "./policy-section.tsx";
import { Spends, WaitingSpends } from "./spends.tsx";
import { type OwnWallet, WALLET_KEY, WALLETS_KEY } from "./wallet.ts";

export default function WalletPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: WALLETS_KEY,
    queryFn: () => api.get<{ wallets: OwnWallet[] }>("/api/wallets"),
  });
  const own = data?.wallets.find(({ kind }) => kind === "own");
  return (
    <Page title={t("Wallet")} intro={t("Money that your agents may use, within the limits that you set.")}>
      {error && (
        <div className="mb-5">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <Skeleton className="mb-5 h-44" />}
      {own && <Balance address={own.address} />}
      {data && !own && <Create />}
      <WaitingSpends />
      <PolicySection />
      <Spends />
      {data && <OtherWallets wallets={data.wallets.filter(({ kind }) => kind !== "own")} />}
    </Page>
  );
}

function Create() {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post("/api/wallet", { action: "create" }),
    onSettled: () => client.invalidateQueries({ queryKey: WALLET_KEY }),
  });
  return (
    <div className="mb-5 flex flex-col gap-3">
      <EmptyState
        title={t("No wallet yet")}
        action={
          <Button look="primary" isBusy={isPending} onClick={() => mutate()}>
            <Wallet aria-hidden="true" />
            {t("Create a wallet")}
          </Button>
        }
      >
        <p>
          {t(
            "With a wallet, agents can pay for services and send digital dollars (USDC), but only within your limits. It begins on a test network, where nothing costs real money.",
          )}
        </p>
        <p className="mt-2">{t("Its key stays encrypted on this server. Nobody is ever shown it, not even you.")}</p>
      </EmptyState>
      {error && <ErrorNote error={error} />}
    </div>
  );
}
