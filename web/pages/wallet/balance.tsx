// The balance and the address of the account's own wallet, with its QR code, on either network, and sending.

import { Send } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Choice } from "../../parts/forms/choice.tsx";
import { lazyDialog, lazyPart } from "../../parts/lazy.tsx";
import { OutsideLink } from "../../parts/outside-link.tsx";
import { Figure, Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { CopyButton } from "../../parts/values/copy-button.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { useParameter } from "../../viewer/address.ts";
import { formatNumber, formatUsd, rich, t } from "../../viewer/language.ts";
import { type Balances, isEmpty, MAINNET, NETWORKS, type Network, TESTNET, useBalances } from "./wallet.ts";

const SendDialog = lazyDialog(() => import("./send-dialog.tsx"));
const QrCode = lazyPart(
  async () => ({ default: (await import("../../parts/values/qr-code.tsx")).QrCode }),
  () => <Skeleton className="size-36" />,
);

/** The network that the page shows, which is in the address. */
export function useNetwork(): [Network, (network: Network) => void] {
  const [name, setName] = useParameter("network");
  return [name === "main" ? MAINNET : TESTNET, (network) => setName(network === MAINNET ? "main" : "")];
}

export function Balance({ address }: { address: string }) {
  const [isSending, setSending] = useState(false);
  const [network, setNetwork] = useNetwork();
  const { data, error, refetch } = useBalances(address, network);
  return (
    <Section
      title={t("Balance")}
      actions={
        <>
          <Choice
            label={t("Network")}
            value={network}
            options={([TESTNET, MAINNET] as const).map((value) => ({ value, label: t(NETWORKS[value].label) }))}
            onChange={setNetwork}
          />
          <Button look="primary" onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {t("Send")}
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap gap-x-10 gap-y-5">
        <QrCode value={address} label={t("QR code of the wallet's address")} size={144} />
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
            <p className="text-soft text-sm">
              {t(NETWORKS[network].meaning)}{" "}
              {data && <OutsideLink href={data.link}>{t("All that happened on the chain")}</OutsideLink>}
            </p>
          </div>
        </div>
      </div>
      {data && isEmpty(data) && <Funding network={network} />}
      {isSending && <SendDialog from={address} network={network} balances={data} onClose={() => setSending(false)} />}
    </Section>
  );
}

const Figures = ({ stablecoin, balance }: Balances) => (
  <dl className="flex flex-wrap gap-x-10 gap-y-3">
    {stablecoin !== undefined && <Figure label={t("Digital dollars (USDC)")} value={formatUsd(Number(stablecoin))} />}
    <Figure
      label={t("Ether")}
      value={formatNumber(Number(balance), { maximumFractionDigits: 6 })}
      hint={t("pays the fees of the chain")}
    />
  </dl>
);

/** How the first money comes in. The chain matters: what is sent on another one is not seen here. */
const Funding = ({ network }: { network: Network }) => (
  <div className="mt-5">
    <Notice>
      <p className="max-w-prose text-ink">
        {rich(
          "There is nothing in it yet. Send <b>USDC</b> and a little <b>ether</b> to this address, on the network <b>{network}</b> and no other.",
          { b: (words, key) => <strong key={key}>{words}</strong> },
          { network: NETWORKS[network].name },
        )}{" "}
        {network === TESTNET &&
          t("Both are free there: websites called faucets give them away, search for “Base Sepolia faucet”.")}
      </p>
    </Notice>
  </div>
);
