// What is proven about an agent now, and a way to take it back.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { withUndo } from "../../../parts/toast.tsx";
import { CopyButton } from "../../../parts/values/copy-button.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";
import { agentKey } from "../agent.tsx";
import { isWay, WAYS } from "./ways.ts";

/** `GET /api/agents/:id/verification`. */
export interface VerificationRecord {
  verified: boolean;
  verificationType: string | null;
  attestationUid: string | null;
  verifierAddress: string | null;
  verifiedAt: string | null;
  metadata: Record<string, unknown> | null;
}

export const recordKey = (agentId: string) => [...agentKey(agentId), "verification"] as const;

const NONE: VerificationRecord = {
  verified: false,
  verificationType: null,
  attestationUid: null,
  verifierAddress: null,
  verifiedAt: null,
  metadata: null,
};

export function RecordSection({ agentId, record: stored }: { agentId: string; record: VerificationRecord }) {
  const client = useQueryClient();
  // Beside what was read, since it may be read again before the removal can't be undone any more.
  const [isRemoved, setRemoved] = useState(false);
  const remove = () =>
    withUndo(
      t("The proof is removed"),
      () => {
        setRemoved(true);
        return () => setRemoved(false);
      },
      async () => {
        await api.delete(path`/api/agents/${agentId}/verify`);
        client.setQueryData(recordKey(agentId), NONE);
        setRemoved(false);
      },
    );
  const record = isRemoved ? NONE : stored;
  const { verified, verificationType: type, verifiedAt } = record;
  return (
    <Section
      title={t("Verification")}
      hint={t("Tells people who talk to the agent that somebody real stands behind it.")}
      actions={verified && <Button onClick={remove}>{t("Remove the proof")}</Button>}
    >
      {verified ? (
        <div className="flex flex-col gap-3">
          <p>
            <Status tone="good">
              {isWay(type) ? t("Verified: {way}", { way: t(WAYS[type].title) }) : t("Verified")}
            </Status>
            {verifiedAt && (
              <span className="text-soft">
                {" · "}
                <When at={verifiedAt} isExact />
              </span>
            )}
          </p>
          <Facts record={record} />
        </div>
      ) : (
        <div className="flex flex-col gap-1">
          <Status tone="idle">{t("Not verified")}</Status>
          <p className="max-w-prose text-soft">
            {t("The agent works as well without. Choose one of the four ways below if strangers should trust it.")}
          </p>
        </div>
      )}
    </Section>
  );
}

function Facts({ record: { verifierAddress, attestationUid, metadata } }: { record: VerificationRecord }) {
  const facts: [string, string][] = [
    ...(verifierAddress ? [[t("Wallet"), verifierAddress] as [string, string]] : []),
    ...(attestationUid ? [[t("Attestation"), attestationUid] as [string, string]] : []),
    ...Object.entries(metadata ?? {}).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  ];
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="flex items-start gap-1">
            <span className="break-all font-mono">{value}</span>
            <span className="-my-1.5">
              <CopyButton value={value} label={t("Copy {what}", { what: name })} />
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
