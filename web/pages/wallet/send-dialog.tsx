// Sends digital dollars to an address. A repeated click can't send twice.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../app/api.ts";
import { ApiError } from "../../app/errors.ts";
import { t } from "../../app/language.ts";
import { randomKey } from "../../app/random-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/field.tsx";
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
  const issue = (field: string) => (error instanceof ApiError ? error.issueAt(field) : undefined);
  const isComplete = to.trim() !== "" && amount.trim() !== "";
  return (
    <Dialog
      title={t("Send digital dollars")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" form="send" isBusy={isPending} disabled={!isComplete}>
            {t("Send")}
          </Button>
        </>
      }
    >
      <form
        id="send"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete && !isPending) mutate();
        }}
      >
        <TextField
          label={t("To")}
          placeholder="0x…"
          value={to}
          onChange={({ target }) => setTo(target.value)}
          hint={t("The address of a wallet. What is sent to a wrong one does not come back.")}
          error={issue("to")}
        />
        <TextField
          label={t("Amount in US dollars")}
          inputMode="decimal"
          placeholder="1.50"
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
          error={issue("amount")}
        />
        {error && !issue("to") && !issue("amount") && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
