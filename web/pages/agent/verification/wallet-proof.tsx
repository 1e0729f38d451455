// The proofs by a wallet: its signature by the browser's wallet, or by hand from any other.

import { PenLine, Wallet } from "lucide-react";
import { useId, useState } from "react";
import { ApiError, issueAt, UnreachableError } from "../../../api/errors.ts";
import {
  addressOf,
  type BrowserWallet,
  isRefusal,
  signText,
  useBrowserWallets,
} from "../../../data/browser-wallets.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { SignByHand } from "./sign-by-hand.tsx";
import { type Proof, requestChallenge, useVerify } from "./use-verify.ts";
import type { Way } from "./ways.ts";

export function WalletProof({ agentId, way }: { agentId: string; way: Exclude<Way, "webauthn"> }) {
  const { mutate, isPending, error } = useVerify(agentId, way);
  const [uid, setUid] = useState("");
  const [isByHand, setByHand] = useState(false);
  const wallets = useBrowserWallets();
  const form = useId();
  const attestation: Proof = way === "attestation" ? { attestationUid: uid.trim() } : {};
  const sign = async (wallet: BrowserWallet): Promise<Proof> => {
    const [{ message }, walletAddress] = [await requestChallenge(agentId, way), await addressOf(wallet)];
    return { ...attestation, walletAddress, signature: await signText(wallet, walletAddress, message) };
  };
  const isIncomplete = way === "attestation" && !/^0x[\da-f]{64}$/i.test(uid.trim());
  return (
    <Form
      id={form}
      className="flex w-full flex-col items-start gap-3"
      onSubmit={() => {
        mutate(async () => attestation);
      }}
    >
      {way === "attestation" && (
        <div className="w-full">
          <TextField
            label={t("Number of the attestation (UID)")}
            placeholder="0x…"
            value={uid}
            onChange={({ target }) => setUid(target.value)}
            hint={t("0x and 64 digits or letters from a to f.")}
            error={issueAt(error, "attestationUid")}
          />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {wallets.map((wallet, index) => (
          <Button
            // biome-ignore lint/suspicious/noArrayIndexKey: wallets only join at the end, and two may have one name
            key={index}
            isBusy={isPending}
            disabled={isIncomplete}
            onClick={() => mutate(() => sign(wallet))}
          >
            <Wallet aria-hidden="true" />
            {wallet.name === undefined ? t("Sign with the wallet") : t("Sign with {name}", { name: wallet.name })}
          </Button>
        ))}
        <Button aria-expanded={isByHand} disabled={isIncomplete} onClick={() => setByHand(!isByHand)}>
          <PenLine aria-hidden="true" />
          {t("Sign elsewhere")}
        </Button>
        {way === "attestation" && (
          <Button type="submit" look="bare" disabled={isIncomplete} isBusy={isPending}>
            {t("I have signed in with this wallet")}
          </Button>
        )}
      </div>
      {isByHand && !isIncomplete && (
        <SignByHand
          agentId={agentId}
          way={way}
          isBusy={isPending}
          onSigned={(signed) => mutate(async () => ({ ...attestation, ...signed }))}
        />
      )}
      {error && <Failure error={error} />}
    </Form>
  );
}

function Failure({ error }: { error: Error }) {
  if (error instanceof ApiError || error instanceof UnreachableError) return <ErrorNote error={error} />;
  return (
    <div role="alert">
      <Notice tone="warn">
        {isRefusal(error)
          ? t("You said no in the wallet. Nothing has changed.")
          : t("The wallet did not sign. Unlock it, then try again.")}
      </Notice>
    </div>
  );
}
