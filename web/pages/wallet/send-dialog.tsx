// Sends digital dollars to an address. A repeated click can't send twice.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { ApiError, issueAt, UnreachableError } from "../../api/errors.ts";
import { randomKey } from "../../api/random-key.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { showToast } from "../../parts/toast.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { formatUsd, t } from "../../viewer/language.ts";
import { type Balances, MAINNET, NETWORKS, type Network, shortAddress, WALLET_KEY } from "./wallet.ts";

interface Props {
  from: string;
  network: Network;
  balances: Balances | undefined;
  onClose: () => void;
}

export default function SendDialog({ from, network, balances, onClose }: Props) {
  const [to, setTo] = useState("");
  const [amount, setAmount] = useState("");
  const [idempotencyKey, setKey] = useState(randomKey);
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.post<{ status: string }>(
        "/api/wallet/send",
        { from, network, to: to.trim(), amount: amount.trim().replace(",", ".") },
        { idempotencyKey },
      ),
    onSuccess: ({ status }) => {
      showToast(messageOfStatus(status));
      onClose();
    },
    // A refusal was not a payment: what is changed and sent again is another one.
    onError: (failure) => failure instanceof ApiError && failure.status < 500 && setKey(randomKey()),
    onSettled: () => client.invalidateQueries({ queryKey: WALLET_KEY }),
  });
  const toError = issueAt(error, "to");
  const amountError = issueAt(error, "amount");
  const isUnknown = error instanceof UnreachableError;
  return (
    <FormDialog
      title={t("Send digital dollars")}
      action={isUnknown ? t("Try again") : t("Send")}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={toError || amountError || isUnknown ? undefined : error}
    >
      {network === MAINNET && <Notice tone="warn">{t("This is real money.")}</Notice>}
      {balances && Number(balances.balance) === 0 && (
        <Notice tone="warn">
          {t("The chain takes a fee in ether, and there is none in this wallet. Send a little to it first.")}
        </Notice>
      )}
      <TextField
        label={t("To address")}
        required
        placeholder="0x…"
        className="font-mono text-sm"
        value={to}
        disabled={isUnknown}
        onChange={({ target }) => setTo(target.value)}
        hint={t("A wallet on {network}. What is sent to a wrong address does not come back.", {
          network: NETWORKS[network].name,
        })}
        error={toError}
      />
      <TextField
        label={t("Amount in US dollars")}
        required
        inputMode="decimal"
        placeholder="1.50"
        value={amount}
        disabled={isUnknown}
        onChange={({ target }) => setAmount(target.value)}
        hint={
          balances?.stablecoin === undefined
            ? undefined
            : t("There are {amount} in {address}.", {
                amount: formatUsd(Number(balances.stablecoin)),
                address: shortAddress(from),
              })
        }
        error={amountError}
      />
      {isUnknown && (
        <ErrorNote
          error={
            new UnreachableError(
              t(
                "The connection was lost, and it may have been sent. Try again: it is paid only once, whatever happened.",
              ),
            )
          }
        />
      )}
    </FormDialog>
  );
}

/** The answer comes after at most ten seconds, with the outcome if there is one by then. */
function messageOfStatus(status: string): string {
  if (status === "waiting_approval") return t("It is above your limit for sending without asking: approve it below.");
  return status === "confirmed" ? t("Sent. The chain has confirmed it.") : t("The money is on its way.");
}
