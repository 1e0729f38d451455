// Signing with a wallet that this browser does not know: the text to sign, and a place for the signature.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";
import { type Proof, requestChallenge } from "./use-verify.ts";
import type { Way } from "./ways.ts";

interface Props {
  agentId: string;
  way: Way;
  isBusy: boolean;
  onSigned: (proof: Proof) => void;
}

export function SignByHand({ agentId, way, isBusy, onSigned }: Props) {
  const [signature, setSignature] = useState("");
  const [walletAddress, setAddress] = useState("");
  const { data, error, refetch } = useQuery({
    queryKey: ["challenge", agentId, way],
    queryFn: () => requestChallenge(agentId, way),
    // Each challenge replaces the one before, which somebody may be signing.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-40" />;
  return (
    <div className="flex w-full flex-col items-start gap-3">
      <div className="w-full">
        <p className="mb-1">
          {t("Sign this text, unchanged. It is valid until")} <When at={data.expiresAt} isExact />.
        </p>
        <CodeBlock code={data.message} label={t("The text to sign")} />
      </div>
      <div className="grid w-full gap-3 sm:grid-cols-2">
        <TextField
          label={t("Address of the wallet")}
          placeholder="0x…"
          value={walletAddress}
          onChange={({ target }) => setAddress(target.value)}
        />
        <TextField
          label={t("Signature")}
          placeholder="0x…"
          value={signature}
          onChange={({ target }) => setSignature(target.value)}
        />
      </div>
      <Button
        isBusy={isBusy}
        disabled={signature.trim() === ""}
        onClick={() =>
          onSigned({
            signature: signature.trim(),
            ...(walletAddress.trim() && { walletAddress: walletAddress.trim() }),
          })
        }
      >
        {t("Check the signature")}
      </Button>
    </div>
  );
}
