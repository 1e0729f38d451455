// Credits for stablecoin: the address to transfer it to, from which wallets, and what of it has arrived. Not there without it.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { lazyPart } from "../../../parts/lazy.tsx";
import { OutsideLink } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { Notice, Status } from "../../../parts/values/status.tsx";
import { USER_KEY } from "../../../session/session.tsx";
import { formatNumber, formatTime, formatUsd, t, text } from "../../../viewer/language.ts";

type State = "pending" | "unclaimed" | "credited";

interface Transfer {
  transaction: string;
  link: string;
  state: State;
  usd: string;
  credits: number | null;
  at: string;
}

interface Stablecoin {
  enabled: boolean;
  payment: {
    network: string;
    payTo: string;
    usdPer100Credits: string;
    confirmations: number;
    wallets: string[];
  } | null;
  transfers: Transfer[];
}

const KEY = ["billing", "stablecoin"];
const STATES = {
  pending: { tone: "busy", label: text("on its way: it counts after {n} blocks") },
  unclaimed: { tone: "warn", label: text("its wallet is not linked to your account") },
  credited: { tone: "good", label: text("{credits} credits") },
} as const;
const NETWORKS: Readonly<Record<string, string>> = { mainnet_chain: "Base", testnet_chain: "Base Sepolia" };

const QrCode = lazyPart(
  async () => ({ default: (await import("../../../parts/values/qr-code.tsx")).QrCode }),
  () => <Skeleton className="size-36" />,
);

export function StablecoinSection() {
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<Stablecoin>("/api/billing/stablecoin"),
    // While something is on its way, its blocks are counted.
    refetchInterval: ({ state }) => (state.data?.transfers.some((one) => one.state === "pending") ? 5_000 : false),
  });
  useLive(KEY, ["payment."]);
  useLive(USER_KEY, ["payment."]);
  if (!data?.payment) return null;
  const { payTo, network, usdPer100Credits, confirmations, wallets } = data.payment;
  return (
    <Section
      title={t("Pay with digital dollars (USDC)")}
      actions={<ButtonLink href="/account/sign-ins">{t("Link a wallet")}</ButtonLink>}
    >
      <div className="flex flex-wrap gap-x-10 gap-y-5">
        <QrCode value={payTo} label={t("QR code of the address")} size={144} />
        <div className="flex min-w-0 flex-1 basis-72 flex-col justify-center gap-2">
          <p>{t("100 credits cost {usd}. Any amount counts.", { usd: formatUsd(Number(usdPer100Credits)) })}</p>
          <p>
            {t("Transfer USDC on the network {network} and no other, from a linked wallet, to this address:", {
              network: NETWORKS[network] ?? network,
            })}
          </p>
          <div>
            <CopyValue value={payTo} label={t("Copy the address")} />
          </div>
          {wallets.length === 0 && (
            <Notice>
              {t("No wallet is linked to your account yet. Link yours first, so that its payment is known.")}
            </Notice>
          )}
        </div>
      </div>
      <FindTransfer />
      <TransferList transfers={data.transfers} confirmations={confirmations} />
    </Section>
  );
}

function FindTransfer() {
  const [transaction, setTransaction] = useState("");
  const client = useQueryClient();
  const find = useMutation({
    mutationFn: () => api.post<Transfer>("/api/billing/stablecoin", { transaction: transaction.trim() }),
    async onSuccess({ state }) {
      setTransaction("");
      if (state === "credited") showToast(t("The payment is credited."));
      await Promise.all([USER_KEY, KEY].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
  return (
    <Form onSubmit={() => find.mutate()} className="mt-5 flex flex-wrap items-end gap-3">
      <div className="min-w-0 flex-1 basis-72">
        <TextField
          label={t("Transaction of a payment that is missing below")}
          value={transaction}
          onChange={(event) => setTransaction(event.target.value)}
          required
          pattern="\s*0x[0-9a-fA-F]{64}\s*"
          placeholder="0x…"
          spellCheck={false}
        />
      </div>
      <Button type="submit" isBusy={find.isPending}>
        {t("Find the payment")}
      </Button>
      {find.error && (
        <div className="basis-full">
          <ErrorNote error={find.error} />
        </div>
      )}
    </Form>
  );
}

function TransferList({ transfers, confirmations }: { transfers: readonly Transfer[]; confirmations: number }) {
  if (transfers.length === 0) return null;
  return (
    <ul aria-label={t("Payments")} className="mt-5 flex flex-col gap-1">
      {transfers.map(({ transaction, link, state, usd, credits, at }) => (
        <li key={transaction} className="flex flex-wrap gap-3">
          <OutsideLink href={link}>
            {formatTime(Date.parse(at), { dateStyle: "medium", timeStyle: "short" })}
          </OutsideLink>
          <span>{formatUsd(Number(usd))}</span>
          <Status tone={STATES[state].tone}>
            {t(STATES[state].label, { n: String(confirmations), credits: formatNumber(credits ?? 0) })}
          </Status>
        </li>
      ))}
    </ul>
  );
}
