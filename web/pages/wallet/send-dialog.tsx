// Sends digital dollars to an address. A repeated click can't send twice.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../app/api.ts";
import { ApiError, issueAt } from "../../app/errors.ts";
import { t } from "../../app/language.ts";
import { randomKey } from "../../app/random-key.ts";
import { TextField } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { showToast } from "../../parts/toast.tsx";
import { WALLET_KEY } from "./wallet.ts";

export default function SendDialog({ onClose }: { onClose: () => void }) {
  const [to, setTo] = useState("");
  const [amount, setAmount] = useState("");
  const [idempotencyKey, setKey] = useState(randomKey);
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.post<{ status: string }>(
        "/api/wallet/send",
        { to: to.trim(), amount: amount.trim().replace(",", ".") },
        { idempotencyKey },
      ),
    onSuccess: ({ status }) => {
      showToast(
        status === "waiting_approval"
          ? t("It is above your limit for sending without asking: approve it below.")
          : t("The money is on its way."),
      );
      onClose();
    },
    // A refusal was not a payment: what is changed and sent again is another one.
    onError: (failure) => failure instanceof ApiError && failure.status < 500 && setKey(randomKey()),
    onSettled: () => client.invalidateQueries({ queryKey: WALLET_KEY }),
  });
  const toError = issueAt(error, "to");
  const amountError = issueAt(error, "amount");
  return (
    <FormDialog
      title={t("Send digital dollars")}
      action={t("Send")}
      isBusy={isPending}
      isIncomplete={to.trim() === "" || amount.trim() === ""}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={toError || amountError ? undefined : error}
    >
      <TextField
        label={t("To address")}
        placeholder="0x…"
        value={to}
        onChange={({ target }) => setTo(target.value)}
        hint={t("The address of a wallet. What is sent to a wrong one does not come back.")}
        error={toError}
      />
      <TextField
        label={t("Amount in US dollars")}
        inputMode="decimal"
        placeholder="1.50"
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
        error={amountError}
      />
    </FormDialog>
  );
}
