// The account's further wallets, made from keys or for email addresses, with their balances, and importing a key.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Send } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { Button } from "../../parts/button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../parts/forms/password-field.tsx";
import { lazyDialog } from "../../parts/lazy.tsx";
import { Rows } from "../../parts/lists/rows.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { showToast } from "../../parts/toast.tsx";
import { CopyButton } from "../../parts/values/copy-button.tsx";
import { Badge } from "../../parts/values/status.tsx";
import { formatNumber, formatUsd, t } from "../../viewer/language.ts";
import { useNetwork } from "./balance.tsx";
import { type Network, type OwnWallet, shortAddress, useBalances, WALLET_KEY } from "./wallet.ts";

const SendDialog = lazyDialog(() => import("./send-dialog.tsx"));
/** Each row reads its balance from the chain, so few are shown at first. */
const SHOWN = 10;

export function OtherWallets({ wallets }: { wallets: readonly OwnWallet[] }) {
  const [isImporting, setImporting] = useState(false);
  const [isAll, setAll] = useState(false);
  const [network] = useNetwork();
  return (
    <Section
      title={t("More wallets")}
      hint={t("Agents use the wallet above. From these only you and your programs pay, within the same limits.")}
      actions={
        <Button onClick={() => setImporting(true)}>
          <KeyRound aria-hidden="true" />
          {t("Import a wallet")}
        </Button>
      }
    >
      {wallets.length > 0 ? (
        <Rows
          label={t("More wallets")}
          rows={isAll ? wallets : wallets.slice(0, SHOWN)}
          keyOf={({ address }) => address}
          columns="md:grid-cols-[minmax(0,1fr)_9rem_7rem_auto]"
        >
          {(wallet) => <Row key={network} wallet={wallet} network={network} />}
        </Rows>
      ) : (
        <p className="text-soft">{t("You have none. A wallet that you hold elsewhere can be imported by its key.")}</p>
      )}
      {!isAll && wallets.length > SHOWN && (
        <Button onClick={() => setAll(true)}>{t("Show all {n}", { n: wallets.length })}</Button>
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </Section>
  );
}

function Row({ wallet: { address, imported, email }, network }: { wallet: OwnWallet; network: Network }) {
  const [isSending, setSending] = useState(false);
  const { data, error } = useBalances(address, network);
  const ether = data && formatNumber(Number(data.balance), { maximumFractionDigits: 6 });
  return (
    <>
      <div className="flex min-w-0 max-w-full flex-wrap items-center gap-x-2">
        <span className="font-mono text-sm" title={address}>
          {shortAddress(address)}
        </span>
        <CopyButton value={address} label={t("Copy the address {address}", { address: shortAddress(address) })} />
        {email && <span className="min-w-0 break-words text-soft text-sm">{email}</span>}
        {imported && <Badge>{t("imported")}</Badge>}
      </div>
      {!data && !error && <Skeleton className="h-5 w-24" />}
      {error && !data && <span className="text-bad text-sm md:col-span-2">{messageOf(error)}</span>}
      {data && <span className="font-medium md:text-right">{formatUsd(Number(data.stablecoin ?? 0))}</span>}
      {data && <span className="text-soft md:text-right">{t("{amount} ether", { amount: ether ?? "" })}</span>}
      <Button
        aria-label={t("Send from {address}", { address: shortAddress(address) })}
        onClick={() => setSending(true)}
      >
        <Send aria-hidden="true" />
        {t("Send")}
      </Button>
      {isSending && <SendDialog from={address} network={network} balances={data} onClose={() => setSending(false)} />}
    </>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const digits = typed.trim().replace(/^0x/i, "");
  const isKey = /^[\da-f]{64}$/i.test(digits);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<{ address: string }>("/api/wallet/managed", { privateKey: `0x${digits}` }),
    onSuccess: async ({ address }) => {
      await client.invalidateQueries({ queryKey: WALLET_KEY });
      showToast(t("The wallet {address} is imported.", { address: shortAddress(address) }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t("Import a wallet")}
      action={t("Import")}
      isBusy={isPending}
      isIncomplete={!isKey}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={error}
    >
      <PasswordField
        label={t("Private key")}
        autoComplete="off"
        placeholder="0x…"
        value={typed}
        onChange={setTyped}
        error={
          digits.length >= 64 && !isKey ? t("A private key is 0x and 64 digits from 0 to 9 and a to f.") : undefined
        }
      />
      <p className="text-soft text-sm">
        {t(
          "Other apps show it as “export private key”. It is stored encrypted and never shown again. Your limits hold for what Berth pays; whoever else has the key can spend without them.",
        )}
      </p>
    </FormDialog>
  );
}
